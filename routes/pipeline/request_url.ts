/** Parts of a request's URL. @module */

import type { Config } from "../../services/config/config.ts";

/** The path with the query. Cheaper than parsing the URL, as every request needs it. */
export const targetOf = ({ url }: Request): string =>
  url.slice(url.indexOf("/", "https://".length));

/** The path without the query. */
export function pathOf(request: Request): string {
  const target = targetOf(request);
  const end = target.indexOf("?");
  return end < 0 ? target : target.slice(0, end);
}

/**
 * The service's own address without a trailing slash: `SERVICE_BASE_URL`, or else the one that the
 * client used. `app.ts` removes `X-Forwarded-Proto` unless a trusted proxy set it.
 */
export function baseUrl(
  { serviceBaseUrl, trustedProxies }: Pick<Config, "serviceBaseUrl" | "trustedProxies">,
  request: Request,
): string {
  if (serviceBaseUrl !== null) return serviceBaseUrl;
  const { protocol, host } = new URL(request.url);
  const isForwarded = trustedProxies.length > 0 &&
    request.headers.get("x-forwarded-proto")?.toLowerCase() === "https";
  return `${isForwarded ? "https:" : protocol}//${host}`;
}
