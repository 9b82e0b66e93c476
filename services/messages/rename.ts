/** Lets what is known of problems follow a container that gets another name. @module */

import { deleteHeldEvent, replaceHeldEvent, selectHeldEvents } from "../../db/held_events.ts";
import { deleteGroup, selectGroupsWith, upsertGroup } from "../../db/notification_groups.ts";
import {
  deleteProblem,
  replaceProblem,
  selectProblemsWith,
} from "../../db/notification_problems.ts";
import type { Deps } from "../deps.ts";
import { OF_HOST } from "../events/events.ts";

interface Names {
  from: string;
  to: string;
}

/** Keys and threads that end with the name of a container. */
const OF_CONTAINER = /^(container|alert \S+|remediation \S+) (.*)$/;

/**
 * Moves the problems of a container, and what receivers were told about them, to its new name, so
 * that their ends are recognized. The threads of messages that were sent stay, and so do those about
 * an earlier container of the new name. Must be called in a transaction.
 */
export function renameProblems({ db }: Pick<Deps, "db">, names: Names): void {
  const { from, to } = names;
  const isOwn = (key: string) => !key.startsWith(OF_HOST);
  const taken = new Set<string>();
  for (const group of selectGroupsWith(db, to).filter(({ cause }) => isOwn(cause))) {
    const { [`container ${to}`]: _, ...open } = JSON.parse(group.state).open;
    taken.add(group.cause);
    upsertGroup(db, { ...group, state: JSON.stringify({ ...JSON.parse(group.state), open }) });
  }
  const renameCause = (cause: string) => {
    const renamed = renameKey(cause, names);
    return renamed !== cause && taken.has(renamed) ? `${renamed} (${from})` : renamed;
  };
  for (const problem of selectProblemsWith(db, from).filter(({ key }) => isOwn(key))) {
    const { key, cause } = problem;
    deleteProblem(db, key);
    replaceProblem(db, {
      ...renameIn(problem, names),
      key: renameKey(key, names),
      cause: renameCause(cause),
    });
  }
  for (const group of selectGroupsWith(db, from).filter(({ cause }) => isOwn(cause))) {
    const state = JSON.stringify(renameIn(JSON.parse(group.state), names));
    deleteGroup(db, group);
    upsertGroup(db, { ...group, cause: renameCause(group.cause), state });
  }
  for (const held of selectHeldEvents(db).filter(({ thread }) => isOwn(thread))) {
    deleteHeldEvent(db, held.thread);
    replaceHeldEvent(db, { ...renameIn(held, names), thread: renameKey(held.thread, names) });
  }
}

function renameKey(key: string, { from, to }: Names): string {
  const [, kind, name] = OF_CONTAINER.exec(key) ?? [];
  return name === from ? `${kind} ${to}` : key;
}

/** Renames the container in the events of a record, also as keys of the open problems. */
function renameIn<Value>(record: Value, names: Names): Value {
  const rename = (name: unknown) => name === names.from ? names.to : name;
  return JSON.parse(JSON.stringify(record), (field, value) => {
    if (field === "container" || field === "target") return rename(value);
    if (field === "containers" && Array.isArray(value)) return value.map(rename);
    if (field !== "open" || typeof value !== "object") return value;
    return Object.fromEntries(
      Object.entries(value).map(([key, event]) => [renameKey(key, names), event]),
    );
  });
}
