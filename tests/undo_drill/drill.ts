/** The update of an application to a version that changes its data and fails. @module */

import { equal, match, notEqual, ok } from "node:assert/strict";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import type { RealEngine } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";
import type { Application } from "./applications.ts";
import { keyOf, publish } from "./image.ts";

/** Longest work of an application, in milliseconds. */
const WORK_MS = 300_000;

export interface DrillJob {
  status: string;
  error: string | null;
  endedAt: string | null;
  // deno-lint-ignore no-explicit-any
  result: any;
  steps: { name: string; startedAt: string | null; endedAt: string | null }[];
}

/** @returns Outcome in words, with the size of the data and the time without the old version. */
export async function drillApplication(
  engine: RealEngine,
  { name }: Application,
): Promise<string> {
  await using longshore = await startLongshore({ engineSocket: engine.socketPath });
  const key = keyOf(name);
  const container = `drill-${key.toLowerCase()}`;
  const script = (part: string) =>
    engine.docker("exec", container, "sh", "-eu", `/opt/drill/${part}-${key}`);
  const image = await publish(engine, name, "old");
  const options = ["--restart=always", `--volume=${container}:/data`, `--name=${container}`];
  const id = await engine.docker("run", "--detach", ...options, image);
  try {
    await script("seed");
    const before = await script("dump");
    ok(before.length > 100, `${name} has data: ${before}`);
    await publish(engine, name, "bad");
    const job = await update(longshore, container);
    equal(job.status, "rolled_back", job.error ?? "");
    match(job.error!, /the data from before is back/);
    notEqual(job.result.data.written, job.result.data.before);
    const lines = JSON.stringify(job.result.evidence);
    match(lines, /MIGRATED \w{64}/, "the new version has changed the data");
    const state = "--format={{.Id}} {{.State.Running}}";
    equal(await engine.docker("inspect", state, container), `${id} true`);
    // Those of the old version: its first start, its stop, and its start after the undo.
    const log = await until("it has started again", async () => {
      const found = (await engine.docker("logs", container)).match(/^(START|STOP) \w{64}$/gm) ?? [];
      return found.length >= 3 && found;
    });
    equal(log[2]!.slice(6), log[1]!.slice(5), "the data is the same, byte for byte");
    equal(await script("dump"), before, "the old version has the same data");
    return `rolled back, same data (${megabytes(job.result.data.size)}), ${downtimeOf(job)} s down`;
  } finally {
    await engine.docker("rm", "--force", container);
    await engine.docker("volume", "rm", container);
  }
}

async function update(longshore: Longshore, container: string): Promise<DrillJob> {
  const path = `/api/containers/${container}/update`;
  const { status, body } = await until("it is listed", async () => {
    const answer = await longshore.call("POST", path, { data: "undo", stableSeconds: 3_600 });
    return answer.status !== 404 && answer;
  });
  equal(status, 202, JSON.stringify(body));
  return await until("the update has ended", async () => {
    const { body: job } = await longshore.call("GET", `/api/jobs/${body.id}`);
    return job.endedAt !== null && job;
  }, { deadlineMs: WORK_MS });
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

/** From the stop of the old version to its return, in seconds. */
function downtimeOf({ steps }: DrillJob): number {
  const at = (name: string, side: "startedAt" | "endedAt") =>
    Date.parse(steps.find((step) => step.name === name)![side]!);
  return Math.round((at("roll_back", "endedAt") - at("keep", "startedAt")) / 1000);
}
