/** The stream of the engine's events. @module */

import type { Engine } from "./client.ts";
import { jsonLines } from "./json_lines.ts";
import { type Filters, filtersText, type Signal } from "./query.ts";
import { transform } from "./transform.ts";

export interface EngineEvent {
  /** container, image, volume, network, daemon, service, node, ... */
  Type: string;
  /** By Docker's names: `start`, `die`, `health_status: healthy`, `exec_start: sh -c ...`. */
  Action: string;
  Actor: {
    ID: string;
    /** For a container: `name`, `image`, `exitCode`, and its labels. `null` above 1 MiB. */
    Attributes: Record<string, string> | null;
  };
  /** `local` or `swarm`. */
  scope?: string;
  /** Unix seconds. */
  time: number;
  /** Unix nanoseconds; beyond 2^53, so the last digits are not exact. 0 if unknown. */
  timeNano: number;
  [field: string]: unknown;
}

/**
 * Events from now on (or `since`), until the signal is aborted or the connection ends. The engine
 * buffers 256 events for a slow reader and then disconnects it; when the stream ends, events may
 * have been missed. Events between the call and the resolution of its promise are included.
 *
 * @param options.since Unix seconds, fractions allowed, or RFC 3339; past events come first.
 */
export async function systemEvents(
  engine: Engine,
  { since, until, filters, onOversized, onChunk, signal }: {
    since?: number | string | undefined;
    until?: number | string | undefined;
    /** E.g. `{ type: ["container"] }`. */
    filters?: Filters | undefined;
    /** Called for each event above 1 MiB (image labels count) that is skipped as unreadable. */
    onOversized?: (() => void) | undefined;
    /** Called for each part of the stream, with whether its last event is incomplete. */
    onChunk?: ((isIncomplete: boolean) => void) | undefined;
  } & Signal = {},
): Promise<AsyncIterable<EngineEvent>> {
  const { body } = await engine.request("GET", "/events", {
    query: { since, until, filters: filtersText(filters) },
    signal,
    long: true,
  });
  const events = jsonLines<EngineEvent>(body, {
    ofOversized: onOversized && ((head, tail) => {
      const event = eventOf(head, tail);
      if (!event) onOversized();
      return event;
    }),
    onChunk,
  });
  return engine.kind === "podman" ? transform(events, useDockerActions) : events;
}

/** The beginning of Docker's event about a container: its attributes follow what identifies it. */
const HEAD =
  /^\{(?:"(?:status|id|from)":"(?:[^"\\]|\\.)*",)*"Type":"container","Action":"([^"\\]*)","Actor":\{"ID":"([0-9a-f]{64})","Attributes":\{/;

/** Its end, unless the engine sent that apart from the rest. */
const TAIL = /"time":(\d{1,15}),"timeNano":(\d{1,20})\}$/;

function eventOf(head: string, tail: string): EngineEvent | undefined {
  const [, Action, ID] = HEAD.exec(head) ?? [];
  if (Action === undefined || ID === undefined) return undefined;
  const [, time = 0, timeNano = 0] = TAIL.exec(tail) ?? [];
  return {
    Type: "container",
    Action,
    Actor: { ID, Attributes: null },
    time: Number(time),
    timeNano: Number(timeNano),
  };
}

/** Docker's names of Podman's actions, where they differ. */
const DOCKER_ACTIONS: Readonly<Record<string, string>> = {
  died: "die",
  exec_died: "exec_die",
  remove: "destroy",
};

async function* useDockerActions(
  events: AsyncIterable<EngineEvent>,
): AsyncGenerator<EngineEvent, void, undefined> {
  for await (const event of events) {
    const Action = event.Type === "container" ? DOCKER_ACTIONS[event.Action] : undefined;
    yield Action === undefined ? event : { ...event, Action };
  }
}
