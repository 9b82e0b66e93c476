/** Hosts of this hub that a caller sees. Everything that shows or changes hosts reads them here. @module */

import {
  selectFleetHost,
  selectFleetHostByName,
  selectFleetHosts,
  type StoredHost,
} from "../../../db/fleet_hosts.ts";
import type { Caller } from "../../access/caller.ts";
import { seesHost } from "../../access/host_scope.ts";
import type { Deps } from "../../deps.ts";
import { requireFound } from "../../errors.ts";

/** A caller, as far as it decides which hosts they see. */
export type HostViewer = Pick<Caller, "scope" | "rights">;

/** The hosts that the caller sees, by name. */
export const visibleHosts = ({ db }: Pick<Deps, "db">, viewer: HostViewer): StoredHost[] =>
  selectFleetHosts(db).filter((host) => seesHost(viewer, host));

/**
 * @param ref Id or name.
 * @throws {AppError} `not_found`, also for a host that the caller does not see.
 */
export function requireVisibleHost(
  { db }: Pick<Deps, "db">,
  viewer: HostViewer,
  ref: string,
): StoredHost {
  const host = selectFleetHost(db, ref) ?? selectFleetHostByName(db, ref);
  return requireFound(host && seesHost(viewer, host) ? host : undefined, "Host", ref);
}
