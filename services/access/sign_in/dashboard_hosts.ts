/**
 * The host names of the dashboard. Without `SERVICE_BASE_URL` they are those under which admins have
 * signed in or continued a session, so that a status page cannot take one by a request with another
 * `Host`. Other users do not count: they could take the domain of a page that way.
 *
 * @module
 */

import { selectSetting, upsertSetting } from "../../../db/settings.ts";
import type { Deps } from "../../deps.ts";
import type { UserRole } from "../caller.ts";

const SETTING = "dashboard_hosts";

/** Number of names that are kept, the last used ones. */
const KEPT = 20;

type HostDeps = Pick<Deps, "config" | "db">;

/** Remembers the host of a session. @param base Base URL of its request. */
export function recordDashboardHost({ config, db }: HostDeps, role: UserRole, base: string): void {
  if (role !== "admin" || config.serviceBaseUrl !== null) return;
  const host = hostOf(base);
  const known = readHosts(db);
  if (known[0] === host) return;
  const hosts = [host, ...known.filter((each) => each !== host)].slice(0, KEPT);
  upsertSetting(db, SETTING, JSON.stringify(hosts));
}

/** Whether a host name, in lower case, is one of the dashboard's. */
export function isDashboardHost({ config, db }: HostDeps, host: string): boolean {
  if (config.serviceBaseUrl !== null) return hostOf(config.serviceBaseUrl) === host;
  return readHosts(db).includes(host);
}

/** The host name of a URL as a domain is stored: without its last dot. */
export const hostOf = (url: string): string => new URL(url).hostname.replace(/\.$/, "");

const readHosts = (db: Deps["db"]): string[] => JSON.parse(selectSetting(db, SETTING) ?? "[]");
