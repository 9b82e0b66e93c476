/** The alert metric of a hub: hosts of its fleet that are away. @module */

import type { Reading } from "../memory.ts";
import { metric, MINUTE_MS, ROUND_MS, type SourceDeps, unsupported } from "./kind.ts";

/** Time after the start in which hosts connect again, in milliseconds. */
const START_MS = MINUTE_MS;

export const fleetMetrics = [
  metric("fleet_hosts_away", {
    target: "host",
    description: "Hosts of the fleet of this hub that are away",
    group: "Fleet",
    words: "hosts away",
    name: "The number of hosts that are away",
    verb: "is",
    threshold: 0,
    slow: { everyMs: 3 * ROUND_MS, read: readHostsAway },
  }),
];

function readHostsAway({ fleet, now, startedAt }: SourceDeps): Reading {
  if (!fleet.isHub) return unsupported("This server has no hosts");
  const isStarting = Math.abs(now().getTime() - startedAt.getTime()) < START_MS;
  if (isStarting) return { reason: "The service has just started" };
  const hosts = fleet.hostsAway();
  return { value: hosts.length, hosts };
}
