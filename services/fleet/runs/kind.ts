/** The kind of jobs that do the same on several hosts. @module */

import type { Job } from "../../../db/jobs.ts";
import type { Deps } from "../../deps.ts";
import type { NewEvent } from "../../events/events.ts";
import type { NamedJobKind } from "../../jobs/kind.ts";
import { RUN_ON_HOSTS } from "../../jobs/view.ts";
import {
  type FleetRun,
  type HostOutcome,
  RUN_ACTIONS,
  type RunInput,
  type RunResult,
} from "./run.ts";

/** The action decides about the rights that it takes, also to cancel it. */
export const fleetRunKind: NamedJobKind<RunInput, RunResult> = {
  id: RUN_ON_HOSTS,
  group: "Fleet",
  title: "Run on hosts",
  running: "Running on hosts",
  steps: { start: "Send the request", finish: "Wait for the end" },
  isListed: true,
  targetType: "host",
  role: "operator",
  permission: "containers:update",
  guardOf: ({ action }) => RUN_ACTIONS[action],
  run,
  // Each host gets the request once: its outcome is stored before the next step.
  recover: run,
  endEvent,
};

async function run(deps: Deps, job: FleetRun): Promise<RunResult> {
  const { runOnHosts } = await import("./work.ts");
  return await runOnHosts(deps, job);
}

function endEvent({ id, input, result, status }: Job): NewEvent {
  const { action, hosts } = input as RunInput;
  const ended = (result as RunResult | null)?.hosts ?? [];
  const count = (state: HostOutcome["state"]) =>
    ended.filter((each) => each.state === state).length;
  return {
    event: "fleet.run_ended",
    data: {
      jobId: id,
      action,
      status,
      hosts: hosts.length,
      done: count("done"),
      failed: ended.filter(({ state }) => state !== "done").map(({ name }) => name).slice(0, 20),
    },
  };
}
