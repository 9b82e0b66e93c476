/**
 * The address of this service as the world knows it.
 *
 * @module
 */

import type { Config } from "../services/config/config.ts";

/**
 * `SERVICE_BASE_URL`, else what the caller used (the `Host` header), without a slash at its end.
 * Behind a proxy that the operator trusts, the proxy says whether that was https; what others say
 * of it does not get here (`app.ts`).
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
