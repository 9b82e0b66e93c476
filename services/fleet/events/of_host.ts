/** Events of a host as the hub uses them: nothing that a host sends is taken for something else. @module */

import type { StoredHost } from "../../../db/fleet_hosts.ts";
import type { Deps } from "../../deps.ts";
import { toView } from "../../events/description.ts";
import type { AppEvent } from "../../events/events.ts";
import { EVENT_KIND_IDS, eventKind } from "../../events/kinds/mod.ts";
import { messageOf } from "../../events/message.ts";
import { subjectOf } from "../../messages/subject.ts";
import { pushText } from "../../messages/push/text.ts";
import type { PassedEvent } from "../link/control.ts";

/** Fields whose values are parts of keys, links and filters. */
const TEXTS = [
  "container",
  "id",
  "image",
  "jobId",
  "monitor",
  "monitorId",
  "rule",
  "ruleId",
  "stack",
];
const TEXT_MAX = 1_000;

/** Deepest list or object in the data. */
const DEPTH_MAX = 4;

type ReadDeps = Pick<Deps, "config" | "inventory" | "now">;

/**
 * The event with the name that the host has here; `undefined` for a kind of a later version, and for
 * data that the kind cannot have.
 */
export function eventOfHost(
  deps: ReadDeps,
  { id, name }: Pick<StoredHost, "id" | "name">,
  { event: { event, eventId, timestamp, data }, stack }: PassedEvent,
): AppEvent | undefined {
  if (!(EVENT_KIND_IDS as readonly string[]).includes(event) || !isPlain(data)) return undefined;
  const given = {
    ...{ event, timestamp: notLater(timestamp, deps.now()), eventId, data },
    ...{ server: name, serverId: id, host: name },
    ...(stack !== null && { stack }),
  } as unknown as AppEvent;
  return isUsable(deps, given) ? given : undefined;
}

/** A time in the future would hide what other hosts report later about the same object. */
const notLater = (timestamp: string, now: Date): string =>
  Date.parse(timestamp) > now.getTime() ? now.toISOString() : timestamp;

function isPlain(data: Record<string, unknown>): boolean {
  const isText = (value: unknown) => typeof value === "string" && value.length <= TEXT_MAX;
  const isMissing = (value: unknown) => value === undefined || value === null;
  return TEXTS.every((field) => isMissing(data[field]) || isText(data[field])) &&
    // Some kinds have the number of containers.
    (!Array.isArray(data.containers) || data.containers.every(isText)) &&
    isShallow(data, DEPTH_MAX);
}

const isShallow = (value: unknown, depth: number): boolean =>
  value === null || typeof value !== "object" ||
  depth > 0 && Object.values(value).every((each) => isShallow(each, depth - 1));

/** Whether all texts about it can be made, so that none fails later for all receivers. */
function isUsable(deps: ReadDeps, event: AppEvent): boolean {
  try {
    toView(event);
    pushText(event);
    subjectOf(deps, event);
    const { reportedAs, targets } = eventKind(event.event);
    reportedAs?.(event.data);
    targets?.(event.data);
    const { severity, thread } = messageOf(event, deps.config);
    return typeof severity === "string" && typeof thread === "string";
  } catch {
    return false;
  }
}
