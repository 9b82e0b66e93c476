/** Containers that stop while a job works on others of their stack. @module */

import type { Engine } from "../../../engine/client.ts";
import type { Identity } from "../../containers/reservations.ts";
import { isUp } from "../recreate/replace.ts";
import { inspectIfThere } from "./members.ts";
import { isTask } from "./verdict.ts";

/**
 * Sentences about containers that have stopped, for the result of a job.
 *
 * @param ran Those that ran when the job began.
 */
export async function stoppedMeanwhile(
  engine: Engine,
  ran: readonly Identity[],
): Promise<string[]> {
  const stopped: string[] = [];
  for (const { id, name } of ran) {
    const container = await inspectIfThere(engine, id);
    if (!container || isUp(container)) continue;
    const { State: { ExitCode }, HostConfig } = container;
    if (ExitCode === 0 && isTask(HostConfig.RestartPolicy)) continue;
    stopped.push(`${name} has stopped meanwhile: it exited with code ${ExitCode}`);
  }
  return stopped;
}
