/**
 * What a failed container leaves behind for the job: the end of its log and its last probes.
 *
 * @module
 */

import type { Engine } from "../../../../engine/client.ts";
import { containerInspect, containerLogs } from "../../../../engine/containers.ts";
import { EngineError } from "../../../../engine/errors.ts";
import { readLogLines } from "../../logs/lines.ts";
import { sinceBefore } from "../../logs/follow/position.ts";
import { parseStamp } from "../../logs/stamp.ts";

export interface Evidence {
  container: string;
  /** Oldest first, each `RFC3339Nano text`. */
  logLines: string[];
  /** The last probes, oldest first. */
  healthLog: { exitCode: number; output: string }[];
}

const LINES_MAX = 200;

/** Longest stored line and output of a probe, in characters. */
const LINE_MAX = 1_000;

const READ_TIMEOUT_MS = 10_000;

/** A log that cannot be read is left out. */
export async function collectEvidence(
  engine: Engine,
  { name, id }: { name: string; id: string },
): Promise<Evidence> {
  const evidence: Evidence = { container: name, logLines: [], healthLog: [] };
  try {
    const { State } = await containerInspect(engine, id);
    evidence.healthLog = (State.Health?.Log ?? []).map(({ ExitCode, Output }) => ({
      exitCode: ExitCode,
      output: cut(Output),
    }));
    evidence.logLines = (await readLastLines(engine, id, { tail: LINES_MAX })).map(cut);
  } catch (error) {
    // E.g. a log driver that cannot be read.
    if (!(error instanceof EngineError)) throw error;
  }
  return evidence;
}

/**
 * The last lines of both streams, each `RFC3339Nano text`.
 *
 * @param options.since Only lines of this time or later, as in a line.
 */
export async function readLastLines(
  engine: Engine,
  id: string,
  { tail, since }: { tail: number; since?: string | undefined },
): Promise<string[]> {
  const { Config } = await containerInspect(engine, id);
  const stamp = since === undefined ? undefined : parseStamp(since);
  const tty = Config.Tty ?? false;
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  const frames = await containerLogs(engine, id, {
    tail,
    since: stamp && sinceBefore(stamp),
    timestamps: true,
    tty,
    signal,
  });
  return (await readLogLines(frames, { tail, tty })).lines;
}

const cut = (text: string) => text.slice(0, LINE_MAX).toWellFormed();
