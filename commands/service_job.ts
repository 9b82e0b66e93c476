/** Follows a job of the running service. @module */

import { readable } from "../services/containers/health_output.ts";
import type { Evidence } from "../services/updates/run/evidence.ts";
import { sleep } from "../services/waiting.ts";
import { stepInWords } from "../ui/base/step_words.ts";
import { CommandError, type Program } from "./program.ts";
import type { ServiceClient } from "./service_client.ts";

/** Pause before a lost stream is opened again, in milliseconds. */
const RECONNECT_MS = 1_000;

/** Number of the last log lines of a failed container that are shown. */
const LINES_SHOWN = 20;

interface Step {
  name: string;
  status: "running" | "succeeded" | "failed";
  message: string | null;
}

/** The end of a job. */
interface EndedJob {
  id: string;
  status: string;
  error: string | null;
  result: unknown;
}

/**
 * Waits for the end of a job and reports its steps on standard error, and what failed containers left
 * behind. A lost connection is opened again.
 *
 * @returns The result of the job.
 * @throws {CommandError} If the job did not succeed.
 */
export async function followJob(
  { note, signal }: Pick<Program, "note" | "signal">,
  service: Pick<ServiceClient, "events" | "isLost" | "text">,
  { id, kind }: { id: string; kind: string },
): Promise<unknown> {
  const names = await stepNames(service, kind, signal);
  const noted = new Set<string>();
  const noteOnce = (text: string) => {
    if (!noted.has(text)) note(text);
    noted.add(text);
  };
  /** Why steps failed. The error of the job, which is the last line, says the same as a rule. */
  const reasons = new Set<string>();
  const noteStep = ({ name, status, message }: Step) => {
    const isReason = status === "failed" && message !== null;
    if (isReason) reasons.add(message);
    noteOnce(
      `${stepInWords(name, names)}: ${status}${isReason || message === null ? "" : `: ${message}`}`,
    );
  };
  const noteOtherReasons = ({ error }: EndedJob) => {
    for (const reason of reasons) if (!error?.includes(reason)) note(reason);
  };
  while (!signal.aborted) {
    try {
      const frames = await service.events(`/api/jobs/${id}/stream`, undefined, signal);
      for await (const { event, data } of frames) {
        if (event === "step") noteStep(data as Step);
        if (event !== "done") continue;
        noteOtherReasons(data as EndedJob);
        return resultOf(note, data as EndedJob);
      }
    } catch (error) {
      if (!service.isLost(error)) throw error;
    }
    await sleep(RECONNECT_MS, signal);
  }
  throw new CommandError(`Job ${id} continues without this command`);
}

/** Words for the steps of a kind. Without them, the names of the steps are shown. */
async function stepNames(
  service: Pick<ServiceClient, "text">,
  kind: string,
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  try {
    const { kinds } = JSON.parse(await service.text("/api/jobs/kinds", signal));
    return kinds.find(({ id }: { id: string }) => id === kind)?.steps ?? {};
  } catch {
    // The token may not read it, or the connection is lost.
    return {};
  }
}

function resultOf(note: Program["note"], { id, status, error, result }: EndedJob): unknown {
  if (status === "succeeded") return result;
  const { evidence = [] } = (result ?? {}) as { evidence?: Evidence[] };
  for (const each of evidence) noteEvidence(note, each);
  throw new CommandError(`Job ${id}: ${status.replace("_", " ")}${error ? `: ${error}` : ""}`);
}

/** The end of the log without its times, and the last health check. */
function noteEvidence(
  note: Program["note"],
  { container, logLines, healthLog }: Evidence,
): void {
  const noteText = (text: string) => {
    for (const line of text.split("\n")) note(`  ${line}`);
  };
  note(`Last log lines of ${container}:${logLines.length === 0 ? " none" : ""}`);
  for (const line of logLines.slice(-LINES_SHOWN)) noteText(readable(line).replace(/^\S+ ?/, ""));
  const probe = healthLog.at(-1);
  if (!probe) return;
  note(`Last health check of ${container}: exit code ${probe.exitCode}`);
  if (probe.output !== "") noteText(readable(probe.output));
}
