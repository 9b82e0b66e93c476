/** Whether the fleet of this hub can have another host. @module */

import { countFleetHosts, selectFleetHostBySimilarName } from "../../../db/fleet_hosts.ts";
import type { Deps } from "../../deps.ts";
import { AppError, tooMany } from "../../errors.ts";

/** Limit of hosts. */
const HOSTS_MAX = 200;

/** @throws {AppError} `conflict` for a name in use, and beyond the limit of hosts. */
export function assertRoomFor({ db }: Pick<Deps, "db">, name: string): void {
  assertNameFree({ db }, name);
  if (countFleetHosts(db) >= HOSTS_MAX) throw tooMany("hosts", HOSTS_MAX);
}

/**
 * Names that differ by case only look like one host.
 *
 * @param id The host that may have the name.
 * @throws {AppError} `conflict` if another host has it.
 */
export function assertNameFree({ db }: Pick<Deps, "db">, name: string, id?: string): void {
  const taken = selectFleetHostBySimilarName(db, name);
  if (!taken || taken.id === id) return;
  throw new AppError("conflict", `Another host has the name ${taken.name}`);
}
