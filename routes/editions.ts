/**
 * The table of contents: which edition serves what, and under which prefix.
 *
 * @module
 */

import type { Deps } from "../services/deps.ts";
import type { Edition } from "../services/edition.ts";
import { ceEndpoints } from "./ce/mod.ts";
import type { Endpoint } from "./endpoint.ts";
import { proEndpoints, proPages } from "./pro/mod.ts";
import { statusPageOfHost } from "./pro/status_page_html.ts";

export interface EditionRoutes {
  edition: Edition;
  prefix: string;
  endpoints: readonly Endpoint[];
}

/** @param openApi The API document as JSON; asked for when somebody wants to read it. */
export function editionRoutes(deps: Deps, openApi: () => string): EditionRoutes[] {
  return [
    { edition: "ce", prefix: "", endpoints: ceEndpoints(deps, openApi) },
    { edition: "pro", prefix: "/api/ext/service-pro", endpoints: proEndpoints(deps) },
    { edition: "pro", prefix: "", endpoints: proPages(deps) },
  ];
}

/**
 * Makes what tells which path of this service answers a request for a host of a user's own;
 * `undefined` for every other request.
 */
export const pathOfHost = (deps: Deps): (request: Request) => string | undefined =>
  statusPageOfHost(deps);
