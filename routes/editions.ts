/** The table of contents: which edition serves what, and under which prefix. @module */

import type { Deps } from "../services/deps.ts";
import type { Edition } from "../services/edition.ts";
import { communityGroups } from "./community.ts";
import type { Endpoint } from "./contract/endpoint.ts";
import { type EndpointGroup, group, loadEndpoints } from "./contract/group.ts";
import { isVerifyRequest } from "./enterprise/mtls/verify_request.ts";
import { statusPageOfHost } from "./pro/status_pages/own_domain.ts";

/** Endpoints with their edition. */
export interface EditionRoutes {
  edition: Edition;
  prefix: string;
  endpoints: readonly Endpoint[];
}

/** A group of endpoints with its edition. */
export interface EditionGroup extends EndpointGroup {
  edition: Edition;
  prefix: string;
}

/** No path is in two groups. */
export const groups: readonly EditionGroup[] = [
  ...communityGroups.map((each) => ({ edition: "ce" as const, prefix: "", ...each })),
  // Public pages, with short addresses.
  { edition: "pro", prefix: "", ...group("/status", () => import("./pro/status_pages/html.ts")) },
  {
    edition: "pro",
    prefix: "/api/ext/service-pro",
    ...group("", () => import("./pro/mod.ts")),
  },
  {
    edition: "enterprise",
    prefix: "/api/ext/service-enterprise",
    ...group("", () => import("./enterprise/mod.ts")),
  },
];

/** Loads every endpoint of every edition. @param openApi The API document as JSON. */
export async function everyRoute(
  deps: Deps,
  openApi: () => Promise<string> = () => Promise.resolve(""),
): Promise<EditionRoutes[]> {
  return await Promise.all(groups.map(async (group) => {
    const { edition, prefix } = group;
    return { edition, prefix, endpoints: await loadEndpoints(group, deps, openApi) };
  }));
}

/** The path that serves a request for a host of its own; `undefined` for other requests. */
export const pathOfHost = (deps: Deps): (request: Request) => string | undefined =>
  statusPageOfHost(deps);

/** Whether a request to an edition is exempt from the rate limit. */
export const isUnlimited = (deps: Pick<Deps, "config">, request: Request): boolean =>
  isVerifyRequest(deps, request);
