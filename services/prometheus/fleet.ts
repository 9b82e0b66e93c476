/** Metrics of the hosts of the fleet: the states that the API and the pages show. @module */

import { selectFleetHosts } from "../../db/fleet_hosts.ts";
import type { Deps } from "../deps.ts";
import { HOST_STATES, stateOf } from "../fleet/hosts/state.ts";
import { by, type Family, labelValue, metric } from "./family.ts";

/** None without a fleet. */
export function fleetFamilies({ db, fleet }: Pick<Deps, "db" | "fleet">): Family[] {
  if (!fleet.isHub) return [];
  const hosts = selectFleetHosts(db).map((host) => ({
    name: host.name,
    state: stateOf(host, fleet.hosts.get(host.id)?.link.silentMs).state,
  }));
  const count = (state: string) => hosts.filter((host) => host.state === state).length;
  return [
    metric(
      "longshore_fleet_hosts",
      "Hosts of the fleet by state",
      by("state", Object.fromEntries(HOST_STATES.map((state) => [state, count(state)]))),
    ),
    metric(
      "longshore_fleet_host_up",
      "Whether a host of the fleet is connected: 1, or 0",
      hosts.map(({ name, state }) => ({
        labels: { host: labelValue(name) },
        value: state === "connected" ? 1 : 0,
      })),
    ),
  ];
}
