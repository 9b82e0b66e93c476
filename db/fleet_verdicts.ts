/** The `fleet_verdicts` table: verdicts of the hosts of this hub about images. @module */

import { json, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

const verdicts = table("fleet_verdicts", {
  hostId: text(),
  /** As the host has given it. */
  id: text(),
  outcome: text<"success" | "failure">(),
  digest: text(),
  /** E.g. `linux/amd64`. */
  platform: text(),
  /** The reference. */
  image: text(),
  container: text(),
  reason: text(),
  /** The last lines of a container that failed. */
  log: json<string[]>(),
  /** `gone`: the container does not run the image any more. */
  state: text<"well" | "unwell" | "gone">(),
  /** When this hub first had it. */
  seenAt: text(),
  /** Since when it is well; `null` while it is not. */
  wellSince: text<string | null>(),
  /** When it had been well for long enough. */
  provenAt: text<string | null>(),
});

/** A verdict as stored. Times are ISO 8601, UTC, by the clock of the hub. */
export type FleetVerdict = Row<typeof verdicts>;

export const {
  /** Stores it in place of the one of the same host and id. */
  replace: replaceFleetVerdict,
} = verdicts;

/** Newest first. */
export function selectFleetVerdicts(db: Database): FleetVerdict[] {
  return verdicts.select(db, "ORDER BY seen_at DESC, id");
}

/** Successes that are well, but have not been for long enough. */
export function selectUnprovenVerdicts(db: Database): FleetVerdict[] {
  return verdicts.select(
    db,
    "WHERE proven_at IS NULL AND well_since IS NOT NULL AND outcome = 'success'",
  );
}

/** Newest first. */
export function selectVerdictsOfHost(db: Database, hostId: string): FleetVerdict[] {
  return verdicts.select(db, "WHERE host_id = :hostId ORDER BY seen_at DESC, id", { hostId });
}

/** Newest first. */
export function selectVerdictsOfImage(
  db: Database,
  { digest, platform }: Pick<FleetVerdict, "digest" | "platform">,
): FleetVerdict[] {
  return verdicts.select(
    db,
    "WHERE digest = :digest AND platform = :platform ORDER BY seen_at DESC, id",
    { digest, platform },
  );
}

export function deleteFleetVerdict(
  db: Database,
  { hostId, id }: Pick<FleetVerdict, "hostId" | "id">,
): void {
  db.run("DELETE FROM fleet_verdicts WHERE host_id = :hostId AND id = :id", { hostId, id });
}
