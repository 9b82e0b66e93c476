/** Decides whether an event is silenced: by maintenance, or by a silence. @module */

import { deleteHeldEvent, replaceHeldEvent } from "../../../db/held_events.ts";
import { selectActiveSilences, type StoredSilence } from "../../../db/silences.ts";
import { matchesAny, type ScopedContainer, stackOf } from "../../access/scope.ts";
import type { Deps } from "../../deps.ts";
import { type AppEvent, containersOf } from "../../events/events.ts";
import { eventKind } from "../../events/kinds/mod.ts";
import type { Pause, Silencer } from "../../events/recorder.ts";
import { phaseOf, type Severity, severityOf, stackNameOf, threadOf } from "../../events/message.ts";
import { knownContainers } from "../../messages/known_containers.ts";

export type SilencerDeps = Pick<Deps, "db" | "inventory" | "maintenance" | "now">;

export function createSilencer(deps: SilencerDeps): Silencer {
  const { db, maintenance, now } = deps;
  return {
    pauseOf(event, cause = event) {
      const phase = phaseOf(event);
      const thread = threadOf(event);
      const pause = currentPause(deps, cause);
      // The end of a problem whose beginning was not reported is not reported either.
      if (phase === "end" && deleteHeldEvent(db, thread)) {
        return maintenance.active ? "maintenance" : "silence";
      }
      if (phase === "begin") {
        if (pause) replaceHeldEvent(db, { thread, event, cause, createdAt: now().toISOString() });
        else deleteHeldEvent(db, thread);
      }
      return pause;
    },
    skip(event) {
      deleteHeldEvent(db, threadOf(event));
      return "silence";
    },
  };
}

/** Whether an event would cause no messages now, and why. */
export function currentPause(deps: SilencerDeps, event: AppEvent): Pause | undefined {
  const { db, maintenance, now } = deps;
  const isOwn = event.host === undefined;
  // Maintenance is that of one server; a host has its own.
  if (isOwn && maintenance.active) return "maintenance";
  const containers = scopedContainers(deps, event);
  if (isOwn && containers.length > 0 && containers.every(maintenance.includes)) {
    return "maintenance";
  }
  const { ignoresSilences } = eventKind(event.event);
  const silences = ignoresSilences ? [] : selectActiveSilences(db, now().toISOString());
  if (silences.length === 0) return undefined;
  const severity = severityOf(event);
  return silences.some((silence) => matches(silence, event, { containers, severity }))
    ? "silence"
    : undefined;
}

/** An event of several containers matches only if all of them match. */
function matches(
  { matchers }: Pick<StoredSilence, "matchers">,
  event: AppEvent,
  { containers, severity }: { containers: readonly ScopedContainer[]; severity: Severity },
): boolean {
  const { event: kind, container, stack, rule, severity: silenced } = matchers;
  const isOne = (pattern: string, name: string) =>
    matchesAny([pattern], name) ||
    event.host !== undefined && matchesAny([pattern], `${event.host}/${name}`);
  const areAll = (pattern: string, names: readonly (string | null)[]) =>
    names.length > 0 && names.every((name) => name !== null && isOne(pattern, name));
  return (kind === undefined || matchesAny([kind], event.event)) &&
    (container === undefined || areAll(container, containers.map(({ name }) => name))) &&
    (stack === undefined || areAll(stack, containers.map(stackOf))) &&
    (rule === undefined || isOfRule(event, rule)) &&
    (silenced === undefined || silenced === severity);
}

function isOfRule({ data }: AppEvent, idOrName: string): boolean {
  const { rule, ruleId } = data as { rule?: string; ruleId?: string };
  return ruleId === idOrName || (rule !== undefined && matchesAny([idOrName], rule));
}

/** The containers that an event is about. One about a stack is as one about any container of it. */
function scopedContainers(deps: SilencerDeps, event: AppEvent): readonly ScopedContainer[] {
  const stack = stackNameOf(event);
  if (stack !== undefined) return [{ name: "", composeProject: stack, labels: {} }];
  const known = knownContainers(deps, event);
  // A container that was removed still has its name.
  return namesOf(event).map((name) =>
    known.find((container) => container.name === name) ?? { name, composeProject: null, labels: {} }
  );
}

const namesOf = (event: AppEvent): readonly string[] =>
  eventKind(event.event).targets?.(event.data) ?? containersOf(event);
