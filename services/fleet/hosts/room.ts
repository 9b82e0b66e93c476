/** Room for another host in the fleet of this hub, and its row. @module */

import {
  countFleetHosts,
  insertFleetHost,
  selectFleetHostBySimilarName,
  type StoredHost,
  updateFleetHost,
} from "../../../db/fleet_hosts.ts";
import type { Deps } from "../../deps.ts";
import { AppError, tooMany } from "../../errors.ts";

/** Limit of hosts. */
const HOSTS_MAX = 200;

/** @throws {AppError} `conflict` for a name in use, and beyond the limit of hosts. */
function assertRoomFor({ db }: Pick<Deps, "db">, name: string): void {
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

/** Fields of a host that are known when it joins. */
export type JoiningHost =
  & Pick<
    StoredHost,
    "name" | "labels" | "linkKey" | "noteKey" | "machine" | "version" | "address" | "inviteId"
  >
  & Partial<Pick<StoredHost, "isPending" | "dialAddress">>;

/**
 * Makes the row of a host that joins; one with the same key keeps its id.
 *
 * @throws {AppError} `conflict` for a name in use, and beyond the limit of hosts.
 */
export function makeHost(
  { db, now }: Pick<Deps, "db" | "now">,
  known: StoredHost | undefined,
  joining: JoiningHost,
): StoredHost {
  if (known) assertNameFree({ db }, joining.name, known.id);
  else assertRoomFor({ db }, joining.name);
  return {
    isPending: false,
    dialAddress: null,
    ...joining,
    id: known?.id ?? crypto.randomUUID(),
    challenge: 0,
    joinedAt: now().toISOString(),
    lastSeenAt: null,
    isConnected: false,
    isReportedAway: false,
    leftAt: null,
  };
}

/** Stores the row in place of the one that is known. */
export function storeHost(
  { db }: Pick<Deps, "db">,
  known: StoredHost | undefined,
  host: StoredHost,
): void {
  if (known) updateFleetHost(db, known.id, host);
  else insertFleetHost(db, host);
}
