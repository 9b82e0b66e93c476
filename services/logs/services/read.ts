/** The last lines of a service's log, of all tasks on every node. @module */

import { type Service, serviceLogs } from "../../../engine/swarm.ts";
import type { Caller } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { onManager } from "../../swarm/access.ts";
import { findService } from "../../swarm/reads.ts";
import { asReadFailure } from "../logs.ts";
import { parseStart } from "../start_time.ts";
import { serviceEntries, type ServiceEntry } from "./entries.ts";
import { createNamer, type ServiceLogLine } from "./names.ts";

/** Selects the lines to read. */
export interface ServiceLogsQuery {
  /** Number of lines of each task from the end. */
  tail: number;
  /** ISO 8601, Unix seconds, or a duration until now such as `15m`. */
  since?: string | undefined;
}

type ReadDeps = Pick<Deps, "engine" | "inventory" | "limiters" | "now">;

/** Longest time to read a log, in milliseconds: a node that is down sends nothing. */
const READ_TIMEOUT_MS = 15_000;

/** Most lines that are returned. */
const LINES_MAX = 10_000;

/**
 * The last lines of all tasks, by time.
 *
 * @returns `isComplete` is false if a node did not send its part in time.
 * @throws {AppError} `invalid` for a time; `not_found`; `conflict` if the log cannot be read, and on an
 * engine that does not manage a swarm; `too_many_requests`.
 */
export async function readServiceLogs(
  deps: ReadDeps,
  caller: Caller,
  ref: string,
  { tail, since }: ServiceLogsQuery,
): Promise<{ lines: ServiceLogLine[]; isComplete: boolean }> {
  const from = since === undefined ? undefined : parseStart(since, deps.now());
  const service = await onManager(deps, () => findService(deps, caller, ref));
  return await deps.limiters.logReads(caller, async () => {
    const { entries, isComplete } = await readEntries(deps, service, { tail, since: from });
    const nameOf = createNamer(deps, service);
    const lines: ServiceLogLine[] = [];
    for (const entry of entries.sort(byTime).slice(-LINES_MAX)) lines.push(await nameOf(entry));
    return { lines, isComplete };
  });
}

const byTime = ({ stamp: a }: ServiceEntry, { stamp: b }: ServiceEntry) =>
  a.seconds - b.seconds || a.nanos - b.nanos;

async function readEntries(
  { engine }: ReadDeps,
  service: Service,
  range: { tail: number; since: string | undefined },
): Promise<{ entries: ServiceEntry[]; isComplete: boolean }> {
  const timeout = AbortSignal.timeout(READ_TIMEOUT_MS);
  const entries: ServiceEntry[] = [];
  try {
    const frames = await serviceLogs(engine, service, { ...range, signal: timeout });
    for await (const entry of serviceEntries(frames, { tty: hasTerminal(service) })) {
      entries.push(entry);
      if (entries.length > 2 * LINES_MAX) entries.splice(0, LINES_MAX);
    }
    return { entries, isComplete: true };
  } catch (error) {
    if (!timeout.aborted) throw asReadFailure(error);
    if (entries.length > 0) return { entries, isComplete: false };
    throw new AppError("unavailable", "Timeout while reading the log from the swarm", {
      cause: error,
    });
  }
}

export const hasTerminal = ({ Spec }: Service): boolean =>
  Boolean(Spec.TaskTemplate?.ContainerSpec?.TTY);
