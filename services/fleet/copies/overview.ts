/** Sums over all hosts of this hub, and what needs attention, from its copies. @module */

import { type Caller, mayDo } from "../../access/caller.ts";
import { isLimited, type ScopedHost } from "../../access/scope.ts";
import { scopeAtHost } from "../../access/host_scope.ts";
import type { Deps } from "../../deps.ts";
import { type HostState, stateOf } from "../hosts/state.ts";
import { visibleHosts } from "../hosts/visible.ts";
import type { HostCopy } from "./copy.ts";
import { visibleRow } from "./lists.ts";
import type { HostFigures, ListName, Part, Rows } from "./rows.ts";

/** Numbers of a host or of all; `null` for what the caller may not see or is not known. */
export interface Sums {
  containers: { total: number; running: number; unhealthy: number; restarting: number } | null;
  stacks: { total: number; degraded: number } | null;
  alerts: { total: number; critical: number } | null;
  updates: { total: number; available: number } | null;
}

export interface HostOverview extends Sums {
  id: string;
  name: string;
  labels: Record<string, string>;
  state: HostState;
  since: string | null;
  figures: HostFigures | null;
  asOf: Record<Part, string | null>;
  /** Why the host cannot be followed now. */
  problem: string | null;
  /** Problems in words, e.g. `2 unhealthy`. */
  attention: string[];
}

/** Sums over the hosts that the caller sees, and each of them by name. Hosts that are away count with what was known last. */
export function readFleetOverview(
  { db, fleet }: Pick<Deps, "db" | "fleet">,
  caller: Caller,
): { sums: Sums; hosts: HostOverview[] } {
  const scope = scopeAtHost(caller);
  const hosts = visibleHosts({ db }, caller).map((host): HostOverview => {
    const copy = fleet.copies.get(host.id);
    const sums = sumsOf(copy, caller, host);
    const { state, since } = stateOf(host, fleet.hosts.get(host.id)?.link.silentMs);
    const { id, name, labels } = host;
    const asOf = copy?.asOf ??
      { host: null, containers: null, stacks: null, alerts: null, updates: null };
    const problem = copy?.problem ?? null;
    const attention = attentionOf(sums, state, problem);
    const figures = isLimited(scope) ? null : copy?.host ?? null;
    return { id, name, labels, state, since, figures, asOf, problem, attention, ...sums };
  });
  return { sums: addUp(hosts), hosts };
}

function sumsOf(copy: HostCopy | undefined, caller: Caller, host: ScopedHost): Sums {
  const scope = scopeAtHost(caller);
  const rowsOf = <Name extends ListName>(
    name: Name,
    permission: string,
  ): Rows[Name][] | undefined =>
    copy?.asOf[name] && mayDo(caller, "viewer", permission, host)
      ? [...copy.lists[name].values()].flatMap((row) => visibleRow(scope, name, row) ?? [])
      : undefined;
  const containers = rowsOf("containers", "containers:read");
  const stacks = rowsOf("stacks", "stacks:read");
  const alerts = rowsOf("alerts", "alerts:read");
  const updates = rowsOf("updates", "containers:read");
  return {
    containers: containers
      ? {
        total: containers.length,
        running: count(containers, ({ state }) => state === "running"),
        unhealthy: count(containers, (each) =>
          each.state === "running" && each.health === "unhealthy"),
        restarting: count(containers, (each) =>
          each.state === "restarting" || each.crashLooping),
      }
      : null,
    stacks: stacks
      ? { total: stacks.length, degraded: count(stacks, ({ status }) => status === "degraded") }
      : null,
    alerts: alerts
      ? { total: alerts.length, critical: count(alerts, (each) => each.severity === "critical") }
      : null,
    updates: updates
      ? {
        total: updates.length,
        available: count(updates, ({ status }) =>
          status === "update_available" || status === "pulled"),
      }
      : null,
  };
}

const count = <Row>(rows: readonly Row[], isCounted: (row: Row) => boolean): number =>
  rows.reduce((sum, row) => sum + (isCounted(row) ? 1 : 0), 0);

function attentionOf(sums: Sums, state: HostState, problem: string | null): string[] {
  const { containers, stacks, alerts, updates } = sums;
  const numbers: [number | undefined, one: string, many?: string][] = [
    [containers?.unhealthy, "unhealthy"],
    [containers?.restarting, "restarting"],
    [stacks?.degraded, "degraded stack", "degraded stacks"],
    [alerts?.total, "firing alert", "firing alerts"],
    [updates?.available, "update", "updates"],
  ];
  return [
    ...state === "away" || state === "late" || state === "pending" ? [state] : [],
    ...problem === null ? [] : [problem],
    ...numbers.flatMap(([number, one, many = one]) =>
      number ? [`${number} ${number === 1 ? one : many}`] : []
    ),
  ];
}

function addUp(hosts: readonly Sums[]): Sums {
  const add = <Numbers extends Record<string, number>>(all: (Numbers | null)[]): Numbers | null => {
    const known = all.filter((each) => each !== null);
    const [first, ...others] = known;
    if (!first) return null;
    return others.reduce((sum, each) =>
      Object.fromEntries(
        Object.entries(sum).map(([key, value]) => [key, value + each[key]!]),
      ) as Numbers, first);
  };
  return {
    containers: add(hosts.map(({ containers }) => containers)),
    stacks: add(hosts.map(({ stacks }) => stacks)),
    alerts: add(hosts.map(({ alerts }) => alerts)),
    updates: add(hosts.map(({ updates }) => updates)),
  };
}
