/** Keeps the links of a hub: beats, times of the last message, events about hosts that are away. @module */

import {
  clearConnectedFleetHosts,
  selectFleetHosts,
  type StoredHost,
  updateFleetHost,
} from "../../../db/fleet_hosts.ts";
import type { Deps } from "../../deps.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import { errorFields } from "../../log.ts";
import { sleep } from "../../waiting.ts";
import { keepWaves } from "../waves/hub.ts";
import { createHandOver } from "../away/hand_over.ts";
import { renewHubKey } from "./hub_keys.ts";
import { renewNoteKey } from "./note_keys.ts";
import { heardAt } from "./state.ts";

const ROUND_MS = 5_000;

/** Interval at which the time of the last message is stored, in milliseconds. */
const STORE_MS = 60_000;

/** Silence after which a host that is away is reported, in milliseconds: restarts take less. */
export const REPORT_MS = 120_000;

type KeeperDeps = EmitDeps & Pick<Deps, "fleet" | "now" | "startedAt">;

/** Keeps links until `signal` aborts, or this installation is a hub no more. */
export async function keepLinks(deps: Deps, signal: AbortSignal, round: () => void): Promise<void> {
  const { fleet, db } = deps;
  clearConnectedFleetHosts(db);
  const handOver = createHandOver(deps);
  while (!signal.aborted && fleet.isHub) {
    keepHosts(deps);
    await renewHubKey(deps);
    await renewNoteKey(deps);
    await keepWaves(deps);
    handOver(signal).catch((error) => deps.log.error("hand-over failed", errorFields(error)));
    round();
    await sleep(ROUND_MS, signal);
  }
  for (const { link } of fleet.hosts.values()) link.close("the hub is stopping");
}

/** Does what is due at the links and the hosts of this hub. */
export function keepHosts(deps: KeeperDeps): void {
  for (const { link } of deps.fleet.hosts.values()) link.tick();
  for (const host of selectFleetHosts(deps.db)) keepHost(deps, host);
}

function keepHost(deps: KeeperDeps, host: StoredHost): void {
  const { db, fleet, now, startedAt } = deps;
  const at = now().getTime();
  const open = fleet.hosts.get(host.id);
  const seenMs = host.lastSeenAt === null ? undefined : Date.parse(host.lastSeenAt);
  if (open) {
    const lastSeenAt = heardAt(deps, open.link);
    if (seenMs === undefined || Date.parse(lastSeenAt) - seenMs >= STORE_MS) {
      updateFleetHost(db, host.id, { lastSeenAt });
    }
    return;
  }
  if (host.isPending || host.isReportedAway || host.leftAt !== null || seenMs === undefined) return;
  // While this hub was stopped, no host could connect.
  if (at - Math.max(seenMs, startedAt.getTime()) < REPORT_MS) return;
  const { id, name, address } = host;
  const data = { host: name, hostId: id, address, since: host.lastSeenAt! };
  emit(deps, "host.away", data, () => updateFleetHost(db, id, { isReportedAway: true }));
}
