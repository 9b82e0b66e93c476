/**
 * What happens at the engine, as it happens.
 *
 * @module
 */

import type { Engine } from "./client.ts";
import { jsonLines } from "./json_lines.ts";
import { type Filters, filtersText } from "./query.ts";
import { transformed } from "./transform.ts";

export interface EngineEvent {
  /** container, image, volume, network, daemon, service, node, ... */
  Type: string;
  /** In Docker's words: `start`, `die`, `health_status: healthy`, `exec_start: sh -c ...`. */
  Action: string;
  Actor: {
    ID: string;
    /** For a container: `name`, `image`, `exitCode`, and its labels. */
    Attributes: Record<string, string> | null;
  };
  /** `local` or `swarm`. */
  scope?: string;
  /** Unix seconds. */
  time: number;
  /** Unix nanoseconds; beyond 2^53, so the last digits are not exact. */
  timeNano: number;
  [field: string]: unknown;
}

/**
 * Events from now on (or `since`), until the signal is aborted or the connection ends. The engine
 * holds 256 events for a slow reader and then drops it; a stream that ends says that events may be
 * missing. Events between the call and its promise's resolution are included.
 *
 * @param options.since Unix seconds, fractions allowed, or RFC 3339; past events come first.
 */
export async function systemEvents(
  engine: Engine,
  { since, until, filters, onOversized, signal }: {
    since?: number | string | undefined;
    until?: number | string | undefined;
    /** E.g. `{ type: ["container"] }`. */
    filters?: Filters | undefined;
    /** Called for each event above 1 MiB, which is skipped; the labels of an image count. */
    onOversized?: (() => void) | undefined;
    signal?: AbortSignal | undefined;
  } = {},
): Promise<AsyncIterable<EngineEvent>> {
  const { body } = await engine.request("GET", "/events", {
    query: { since, until, filters: filtersText(filters) },
    signal,
    long: true,
  });
  const events = jsonLines<EngineEvent>(body, { onOversized });
  return engine.kind === "podman" ? transformed(events, inDockersWords) : events;
}

/** What Podman calls otherwise than Docker does, for the same events. */
const DOCKERS_WORDS: Readonly<Record<string, string>> = {
  died: "die",
  exec_died: "exec_die",
  remove: "destroy",
};

async function* inDockersWords(
  events: AsyncIterable<EngineEvent>,
): AsyncGenerator<EngineEvent, void, undefined> {
  for await (const event of events) {
    const Action = event.Type === "container" ? DOCKERS_WORDS[event.Action] : undefined;
    yield Action === undefined ? event : { ...event, Action };
  }
}
