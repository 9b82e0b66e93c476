/** The kind of jobs that do the same on several hosts. @module */

import type { Job } from "../../../db/jobs.ts";
import type { Deps } from "../../deps.ts";
import type { NewEvent } from "../../events/events.ts";
import type { NamedJobKind } from "../../jobs/kind.ts";
import type { FleetRun, HostOutcome, RunInput, RunResult } from "./run.ts";

export const FLEET_RUN = "fleet.run";

/** Cancelling one takes no more rights than its hosts ask for. */
export const fleetRunKind: NamedJobKind<RunInput, RunResult> = {
  id: FLEET_RUN,
  group: "Fleet",
  title: "Run on hosts",
  running: "Running on hosts",
  isListed: true,
  targetType: "host",
  role: "operator",
  permission: "containers:update",
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
