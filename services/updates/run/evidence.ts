/** Evidence of a failed container for the job: the end of its log and its last probes. @module */

import type { Engine } from "../../../engine/client.ts";
import { containerInspect } from "../../../engine/containers.ts";
import { EngineError } from "../../../engine/errors.ts";
import { readEntries } from "../../logs/logs.ts";
import { lineText, LOG_LINES_MAX } from "../../messages/crash_log.ts";

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

/**
 * Evidence for a message: the last probe if it failed, and the last log lines.
 *
 * @param name Of the container that failed.
 */
export function evidenceLines(evidence: readonly Evidence[], name: string): string[] {
  const failed = evidence.find(({ container }) => container === name);
  if (!failed) return [];
  const probe = failed.healthLog.at(-1);
  const log = failed.logLines.map((line) => lineText(line.slice(line.indexOf(" ") + 1)))
    .filter(Boolean).slice(-LOG_LINES_MAX);
  return [
    ...(probe && probe.exitCode !== 0 ? [`Health check: ${lineText(probe.output)}`] : []),
    ...log.map((text) => `Log: ${text}`),
  ];
}

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
    evidence.logLines = (await readLastLines(engine, id, LINES_MAX)).map(cut);
  } catch (error) {
    // E.g. a log driver that cannot be read.
    if (!(error instanceof EngineError)) throw error;
  }
  return evidence;
}

/** The last lines of both streams, each `RFC3339Nano text`. */
async function readLastLines(engine: Engine, id: string, tail: number): Promise<string[]> {
  const container = await containerInspect(engine, id);
  const selection = { tail, streams: ["stdout", "stderr"] as const };
  const signal = AbortSignal.timeout(READ_TIMEOUT_MS);
  return (await readEntries({ engine }, container, selection, signal)).lines;
}

const cut = (text: string) => text.slice(0, LINE_MAX).toWellFormed();
