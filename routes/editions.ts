/**
 * The table of contents: which edition serves what, and under which prefix.
 *
 * @module
 */

import type { Deps } from "../services/deps.ts";
import type { Edition } from "../services/license/edition.ts";
import { isVerifySecret } from "../services/enterprise/mtls/verify_secret.ts";
import { ceEndpoints } from "./ce/mod.ts";
import type { Endpoint } from "./endpoint.ts";
import { statusPageHtmlEndpoints, statusPageOfHost } from "./pro/status_pages/html.ts";

export interface EditionRoutes {
  edition: Edition;
  prefix: string;
  endpoints: readonly Endpoint[];
}

/** Endpoints that are loaded when somebody first asks for one: most services never need them. */
export interface Extension {
  edition: Edition;
  /** Everything under it is theirs. */
  prefix: string;
  load(deps: Deps): Promise<readonly Endpoint[]>;
}

/** What is there from the start. @param openApi The API document as JSON. */
export function baseRoutes(deps: Deps, openApi: () => Promise<string>): EditionRoutes[] {
  return [
    { edition: "ce", prefix: "", endpoints: ceEndpoints(deps, openApi) },
    // Pages for everyone, which have addresses that people remember.
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

/**
 * Makes what tells which path of this service answers a request for a host of a user's own;
 * `undefined` for every other request.
 */
export const pathOfHost = (deps: Deps): (request: Request) => string | undefined =>
  statusPageOfHost(deps);

const VERIFY_URL = /^https?:\/\/[^/]+\/api\/ext\/service-enterprise\/mtls\/verify\/?(\?|$)/;

/**
 * Makes what tells whether a request counts against the rate limit of its address. Those of a
 * reverse proxy that shows the verify secret do not: it asks at each request of each client.
 */
export const isCounted = ({ config }: Pick<Deps, "config">) => (request: Request): boolean =>
  !VERIFY_URL.test(request.url) ||
  !isVerifySecret({ config }, request.headers.get("x-verify-secret"));
