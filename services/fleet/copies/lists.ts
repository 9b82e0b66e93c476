/** Lists over all hosts of this hub, from its copies: no host is asked, and none delays another. @module */

import { selectFleetHosts, type StoredHost } from "../../../db/fleet_hosts.ts";
import type { Caller } from "../../access/caller.ts";
import { includesContainer, includesStack, isLimited, type Scope } from "../../access/scope.ts";
import type { Deps } from "../../deps.ts";
import { hasLabel } from "../hosts/labels.ts";
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

/** Rows of the hosts by name of the host, as the caller may see them. */
export function listRows<Name extends ListName>(
  deps: ListDeps,
  { scope }: Pick<Caller, "scope">,
  name: Name,
  { limit, offset, ...filter }: RowFilter & Page,
): { rows: HostRow<Name>[]; total: number } & Page {
  const rows: HostRow<Name>[] = [];
  let total = 0;
  for (const host of selectFleetHosts(deps.db).filter((each) => isWanted(each, filter))) {
    const copy = deps.fleet.copies.get(host.id);
    const asOf = copy?.asOf[name];
    if (!copy || !asOf) continue;
    for (const row of copy.lists[name].values()) {
      const visible = isLimited(scope) ? VISIBLE[name](scope, row) : row;
      if (!visible || !isFound([...TEXTS[name](visible), host.name], filter.search)) continue;
      if (total++ >= offset && rows.length < limit) {
        rows.push({ ...visible, host: host.name, asOf });
      }
    }
  }
  return { rows, total, limit, offset };
}

function isWanted({ id, name, labels }: StoredHost, { host, label }: RowFilter): boolean {
  if (host !== undefined && host !== id && host !== name) return false;
  return label === undefined || hasLabel(labels, label);
}

function isFound(texts: (string | null)[], search: string | undefined): boolean {
  if (search === undefined) return true;
  const wanted = search.toLowerCase();
  return texts.some((text) => text?.toLowerCase().includes(wanted));
}
