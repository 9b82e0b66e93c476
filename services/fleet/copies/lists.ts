/** Lists over all hosts of this hub, from its copies: no host is asked, and none delays another. @module */

import type { StoredHost } from "../../../db/fleet_hosts.ts";
import type { Caller } from "../../access/caller.ts";
import { includesContainer, includesStack, isLimited, type Scope } from "../../access/scope.ts";
import { hasLabel, scopeAtHost } from "../../access/host_scope.ts";
import type { Deps } from "../../deps.ts";
import { visibleHosts } from "../hosts/visible.ts";
import type { ListName, Rows } from "./rows.ts";

type ListDeps = Pick<Deps, "db" | "fleet">;

/** Filters of a list; a row must match all of them. */
export interface RowFilter {
  /** Part of a text of the row, or of the name of its host. */
  search?: string | undefined;
  /** Name or id of a host. */
  host?: string | undefined;
  /** `key` or `key=value` of a host. */
  label?: string | undefined;
}

/** A row with the name of its host, and the time at which the host had it so. */
export type HostRow<Name extends ListName> = Rows[Name] & { host: string; asOf: string };

interface Page {
  limit: number;
  offset: number;
}

/** Texts of a row that are searched. */
const TEXTS: { [Name in ListName]: (row: Rows[Name]) => (string | null)[] } = {
  containers: ({ name, image, stack }) => [name, image, stack],
  stacks: ({ name }) => [name],
  alerts: ({ ruleName, message, container, stack }) => [ruleName, message, container, stack],
  updates: ({ image, containers }) => [image, ...containers.map(({ name }) => name)],
};

const asScoped = ({ name, stack }: { name: string; stack: string | null }) => (
  { name, composeProject: stack, labels: {} }
);

/** Order of the rows of all hosts: by name, but the newest alerts and what is to be updated come first. */
const ORDERS: { [Name in ListName]: (a: Rows[Name], b: Rows[Name]) => number } = {
  containers: byName,
  stacks: byName,
  alerts: (a, b) => compare(b.firedAt, a.firedAt),
  updates: (a, b) => updateRank(a) - updateRank(b) || compare(a.image, b.image),
};

const compare = (a: string, b: string): number => a < b ? -1 : Number(a > b);

function byName(a: { name: string }, b: { name: string }): number {
  return compare(a.name, b.name);
}

/** Statuses of updates that come before the others. */
const FIRST = ["update_available", "pulled", "unknown"];

const updateRank = ({ status }: Rows["updates"]): number => {
  const at = FIRST.indexOf(status);
  return at < 0 ? FIRST.length : at;
};

/** The part of a row that a limited API token may see; `undefined` for none. */
const VISIBLE: {
  [Name in ListName]: (scope: Scope, row: Rows[Name]) => Rows[Name] | undefined;
} = {
  containers: (scope, row) => includesContainer(scope, asScoped(row)) ? row : undefined,
  stacks: (scope, row) => includesStack(scope, row.name) ? row : undefined,
  alerts: () => undefined,
  updates(scope, row) {
    const containers = row.containers.filter((each) => includesContainer(scope, asScoped(each)));
    return containers.length > 0 ? { ...row, containers } : undefined;
  },
};

/** The part of a row that a caller may see at its host; `undefined` for none. */
export const visibleRow = <Name extends ListName>(
  scope: Scope | undefined,
  name: Name,
  row: Rows[Name],
): Rows[Name] | undefined => isLimited(scope) ? VISIBLE[name](scope, row) : row;

/** Rows of the hosts as the caller may see them. Those of equal order are by name of the host. */
export function listRows<Name extends ListName>(
  deps: ListDeps,
  caller: Caller,
  name: Name,
  { limit, offset, ...filter }: RowFilter & Page,
): { rows: HostRow<Name>[]; total: number } & Page {
  const found: { host: string; asOf: string; row: Rows[Name] }[] = [];
  const scope = scopeAtHost(caller);
  for (const host of visibleHosts(deps, caller).filter((each) => isWanted(each, filter))) {
    const copy = deps.fleet.copies.get(host.id);
    const asOf = copy?.asOf[name];
    if (!copy || !asOf) continue;
    for (const each of copy.lists[name].values()) {
      const row = visibleRow(scope, name, each);
      if (row && isFound([...TEXTS[name](row), host.name], filter.search)) {
        found.push({ host: host.name, asOf, row });
      }
    }
  }
  found.sort((a, b) => ORDERS[name](a.row, b.row));
  const rows = found.slice(offset, offset + limit).map(({ row, ...of }) => ({ ...row, ...of }));
  return { rows, total: found.length, limit, offset };
}

const isWanted = (stored: StoredHost, { host, label }: RowFilter): boolean =>
  (host === undefined || host === stored.id || host === stored.name) &&
  (label === undefined || hasLabel(stored, label));

function isFound(texts: (string | null)[], search: string | undefined): boolean {
  if (search === undefined) return true;
  const wanted = search.toLowerCase();
  return texts.some((text) => text?.toLowerCase().includes(wanted));
}
