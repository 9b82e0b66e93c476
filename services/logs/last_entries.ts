/** The range of the last entries of a log. @module */

import { containerLogs } from "../../engine/containers.ts";
import type { LogSource, ReadRange } from "./follow/line_reader.ts";
import { sinceBefore } from "./follow/position.ts";
import { leadingStamp, type Stamp } from "./stamp.ts";

/**
 * A range with the last entries, and with all pieces of their lines but those of the first one.
 *
 * Podman stores a line that arrives in pieces as several entries, and a read of the last entries
 * (4.3 does) adds pieces to the line before. Its log is therefore read from the time of the first of
 * these entries on, or as a whole if it has fewer. The range may then have many more entries: times
 * are whole seconds.
 */
export async function lastEntries(
  { engine, containerId, tty }: LogSource,
  { tail, since }: { tail: number; since?: string | undefined },
  signal: AbortSignal,
): Promise<ReadRange> {
  if (engine.kind !== "podman") return { tail, since };
  const options = { tail, since, timestamps: true, tty, signal };
  let first: Stamp | undefined;
  let entries = 0;
  for await (const { bytes } of await containerLogs(engine, containerId, options)) {
    first ??= leadingStamp(bytes).stamp;
    entries += tty ? bytes.filter((byte) => byte === LINE_FEED).length : 1;
  }
  if (!first || entries < tail) return { since };
  const from = sinceBefore(first);
  return { since: since !== undefined && Number(since) > Number(from) ? since : from };
}

const LINE_FEED = 10;
