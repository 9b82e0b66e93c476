/** Room for another host in the fleet of this hub, and its row. @module */

import {
  countFleetHosts,
  insertFleetHost,
  selectFleetHostBySimilarName,
  type StoredHost,
  updateFleetHost,
} from "../../../db/fleet_hosts.ts";
import { replaceHostHubKey } from "../../../db/fleet_hub_keys.ts";
import { selectFleetKey } from "../../../db/fleet_keys.ts";
import { replaceHostNoteKey } from "../../../db/fleet_note_keys.ts";
import type { Deps } from "../../deps.ts";
import { AppError, tooMany } from "../../errors.ts";

/** Limit of hosts. */
const HOSTS_MAX = 200;

type RoomDeps = Pick<Deps, "config" | "db">;

/** @throws {AppError} `conflict` for a name in use, and beyond the limit of hosts. */
function assertRoomFor(deps: RoomDeps, name: string): void {
  assertNameFree(deps, name);
  if (countFleetHosts(deps.db) >= HOSTS_MAX) throw tooMany("hosts", HOSTS_MAX);
}

/**
 * Names that differ by case only look like one host.
 *
 * @param id The host that may have the name.
 * @throws {AppError} `conflict` if another host has it, or this server itself.
 */
export function assertNameFree({ config, db }: RoomDeps, name: string, id?: string): void {
  if (name.toLowerCase() === config.serverName.toLowerCase()) {
    throw new AppError(
      "conflict",
      `This server has the name ${config.serverName}; use another one, e.g. with join --name`,
    );
  }
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
  { config, db, now }: RoomDeps & Pick<Deps, "now">,
  known: StoredHost | undefined,
  joining: JoiningHost,
): StoredHost {
  if (known) assertNameFree({ config, db }, joining.name, known.id);
  else assertRoomFor({ config, db }, joining.name);
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

/**
 * Stores the row in place of the one that is known.
 *
 * @param hubKey The key of this hub that the host knows, base64url.
 */
export function storeHost(
  { db }: Pick<Deps, "db">,
  known: StoredHost | undefined,
  host: StoredHost,
  hubKey: string,
): void {
  if (known) updateFleetHost(db, known.id, host);
  else insertFleetHost(db, host);
  replaceHostHubKey(db, { hostId: host.id, hubKey });
  const noteKey = selectFleetKey(db, "note")?.publicKey;
  if (noteKey !== undefined) replaceHostNoteKey(db, { hostId: host.id, noteKey });
}
