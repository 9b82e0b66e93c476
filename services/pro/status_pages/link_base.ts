/**
 * The address of the service in mails to subscribers. The form of a status page is public, so that
 * its `Host` header may be an attacker's: without `SERVICE_BASE_URL` only addresses count that admins
 * have used, or an admin has given to the page.
 *
 * @module
 */

import { selectSetting, upsertSetting } from "../../../db/settings.ts";
import type { StatusPage } from "../../../db/pro/status_pages/pages.ts";
import type { Deps } from "../../deps.ts";

const SETTING = "status_page_link_bases";

/** Number of addresses that are kept, the last used ones. */
const KEPT = 10;

type BaseDeps = Pick<Deps, "config" | "db">;

/** Remembers the base URL of an admin's request. */
export function recordLinkBase({ config, db }: BaseDeps, base: string): void {
  if (config.serviceBaseUrl !== null) return;
  const known = readBases(db);
  if (known[0] === base) return;
  const bases = [base, ...known.filter((each) => each !== base)].slice(0, KEPT);
  upsertSetting(db, SETTING, JSON.stringify(bases));
}

/**
 * The base URL of links for a visitor of a page: `SERVICE_BASE_URL`, or the visitor's own if it is
 * known, or else the page's domain or what an admin used last.
 *
 * @param visited Base URL of the visitor's request.
 * @returns `undefined` if no address is known.
 */
export function linkBaseOf(
  { config, db }: BaseDeps,
  { custom_domain }: Pick<StatusPage, "custom_domain">,
  visited: string,
): string | undefined {
  if (config.serviceBaseUrl !== null) return config.serviceBaseUrl;
  const known = readBases(db);
  const url = new URL(visited);
  if (known.includes(visited) || url.hostname === custom_domain) return visited;
  return custom_domain === null ? known[0] : `${url.protocol}//${custom_domain}`;
}

function readBases(db: Deps["db"]): string[] {
  return JSON.parse(selectSetting(db, SETTING) ?? "[]");
}
