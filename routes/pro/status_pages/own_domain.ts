/** Domains of status pages: the page is served at `/`. @module */

import { hostOf, isDashboardHost } from "../../../services/access/sign_in/dashboard_hosts.ts";
import type { Deps } from "../../../services/deps.ts";
import { includesEdition } from "../../../services/edition.ts";
import { pageByDomain } from "../../../services/pro/status_pages/public.ts";
import { pathOf } from "../../pipeline/request_url.ts";

/**
 * Creates the function that maps a request for a page's own domain to its path below `/status`;
 * `undefined` for other requests.
 */
export function statusPageOfHost(deps: Deps): (request: Request) => string | undefined {
  return (request) => {
    const path = pathOf(request);
    if (path !== "/" && path !== "/feed.atom" && path !== "/badge.svg") return undefined;
    if (!includesEdition(deps.license.edition, "pro")) return undefined;
    const page = pageByDomain(deps, request.headers.get("host") ?? new URL(request.url).host);
    // A page may have had its domain before the dashboard was used there.
    if (page && isDashboardHost(deps, hostOf(request.url))) return undefined;
    return page && `/status/${page.slug}${path === "/" ? "" : path}`;
  };
}
