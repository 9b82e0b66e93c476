/**
 * The table of contents: which edition serves what, and under which prefix.
 *
 * @module
 */

import type { Deps } from "../services/deps.ts";
import type { Edition } from "../services/license/edition.ts";
import { ceEndpoints } from "./ce/mod.ts";
import type { Endpoint } from "./endpoint.ts";
import { isVerifyRequest } from "./enterprise/mtls/verify_request.ts";
import { statusPageHtmlEndpoints, statusPageOfHost } from "./pro/status_pages/html.ts";

export interface EditionRoutes {
  edition: Edition;
  prefix: string;
  endpoints: readonly Endpoint[];
}

/** Endpoints that are loaded on the first request for one, because most hosts never need them. */
export interface Extension {
  edition: Edition;
  /** Every path below it belongs to the extension. */
  prefix: string;
  load(deps: Deps): Promise<readonly Endpoint[]>;
}

/** Endpoints that are loaded at the start. @param openApi The API document as JSON. */
export function baseRoutes(deps: Deps, openApi: () => Promise<string>): EditionRoutes[] {
  return [
    { edition: "ce", prefix: "", endpoints: ceEndpoints(deps, openApi) },
    // Public pages, with short addresses.
    { edition: "pro", prefix: "", endpoints: statusPageHtmlEndpoints(deps) },
  ];
}

export const extensions: readonly Extension[] = [
  {
    edition: "pro",
    prefix: "/api/ext/service-pro",
    load: async (deps) => (await import("./pro/mod.ts")).proEndpoints(deps),
  },
  {
    edition: "enterprise",
    prefix: "/api/ext/service-enterprise",
    load: async (deps) => (await import("./enterprise/mod.ts")).enterpriseEndpoints(deps),
  },
];

/** Every endpoint of every edition. */
export async function everyRoute(
  deps: Deps,
  openApi: () => Promise<string> = () => Promise.resolve(""),
): Promise<EditionRoutes[]> {
  const loaded = extensions.map(async ({ edition, prefix, load }) => {
    return { edition, prefix, endpoints: await load(deps) };
  });
  return [...baseRoutes(deps, openApi), ...await Promise.all(loaded)];
}

/** The path that serves a request for a host of its own; `undefined` for other requests. */
export const pathOfHost = (deps: Deps): (request: Request) => string | undefined =>
  statusPageOfHost(deps);

/** Whether a request to an edition is exempt from the rate limit. */
export const isUnlimited = (deps: Pick<Deps, "config">, request: Request): boolean =>
  isVerifyRequest(deps, request);
