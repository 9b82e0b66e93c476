/**
 * Follows a job of the running service.
 *
 * @module
 */

import { sleep } from "../services/lifecycle.ts";
import { CommandError, type Program } from "./program.ts";
import type { ServiceClient } from "./service_client.ts";

/** Pause before a lost stream is opened again, in milliseconds. */
const RECONNECT_MS = 1_000;

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
 * Waits for the end of a job and reports its steps on standard error. A lost connection is opened
 * again.
 *
 * @returns The result of the job.
 * @throws {CommandError} If the job did not succeed.
 */
export async function followJob(
  { note, signal }: Pick<Program, "note" | "signal">,
  service: ServiceClient,
  id: string,
): Promise<unknown> {
  const noted = new Set<string>();
  const noteStep = ({ name, status, message }: Step) => {
    const text = `${name}: ${status}${message === null ? "" : `: ${message}`}`;
    if (!noted.has(text)) note(text);
    noted.add(text);
  };
  while (!signal.aborted) {
    try {
      const frames = await service.events(`/api/jobs/${id}/stream`, undefined, signal);
      for await (const { event, data } of frames) {
        if (event === "step") noteStep(data as Step);
        if (event === "done") return resultOf(data as EndedJob);
      }
    } catch (error) {
      if (!service.isLost(error)) throw error;
    }
    await sleep(RECONNECT_MS, signal);
  }
  throw new CommandError(`Job ${id} continues without this command`);
}

function resultOf({ id, status, error, result }: EndedJob): unknown {
  if (status === "succeeded") return result;
  throw new CommandError(`Job ${id}: ${status.replace("_", " ")}${error ? `: ${error}` : ""}`);
}
