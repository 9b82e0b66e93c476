/** Lets a fault hit a job, and finds out whether the end is whole. @module */

import { equal, ok } from "node:assert/strict";
import { type Numbers, summaryOf } from "../helpers/drill.ts";
import { VERSIONS } from "../helpers/migrating_app.ts";
import { until } from "../helpers/until.ts";
import type { Fault } from "./faults.ts";
import type { Operation } from "./operations.ts";
import {
  assertRepository,
  type EndedJob,
  filesOf,
  jobEnd,
  NAME,
  USERS,
  type World,
} from "./world.ts";

/** Faults between two checks of the repository, which takes longer than many of them. */
const CHECK_EACH = 10;

/**
 * @param numbers Of the calls, requests or writes.
 * @returns Number and outcomes in words.
 */
export async function strikeAll(
  world: World,
  { operation, fault, numbers: { step, first } }: {
    operation: Operation;
    fault: Fault;
    numbers: Numbers;
  },
): Promise<string> {
  const outcomes: string[] = [];
  for (let number = first; number <= (fault.last ?? Infinity); number += step) {
    const { status, hasStruck } = await strike(world, operation, fault, number);
    if (!hasStruck && fault.last === undefined) break;
    outcomes.push(status);
    console.error(`${operation.name}, ${fault.name}, ${number}: ${status}`);
    if (outcomes.length % CHECK_EACH === 0) await assertRepository(world, fault.target);
  }
  await assertRepository(world, fault.target);
  return `${outcomes.length} times: ${summaryOf(outcomes)}`;
}

/** @returns The end of the job, and whether the fault has struck before. */
export async function strike(
  world: World,
  operation: Operation,
  fault: Fault,
  number: number,
): Promise<{ status: string; error: string | null; hasStruck: boolean }> {
  await world.useTarget(fault.target);
  const { path, body } = await operation.prepare(world, fault.target);
  const armed = await fault.arm(world, number);
  const answering = request(world, path, body);
  const ending = answering.then(({ id }) => id === undefined ? undefined : jobEnd(world, id));
  await Promise.race([armed.over, ending]);
  await armed.repair();
  const job = await ending;
  const hasStruck = armed.hasStruck();
  const what = `${operation.name}, ${fault.name}, ${number}: ${job?.status ?? "not accepted"} ` +
    `${job?.error ?? (await answering).error}`;
  try {
    await assertWhole(world, operation, job);
  } catch (cause) {
    throw new Error(what, { cause });
  }
  if (!hasStruck) equal(job?.status, operation.end, what);
  return { status: job?.status ?? "not accepted", error: job?.error ?? null, hasStruck };
}

/** A request may be refused, or lose the engine before a job exists. */
async function request(
  { longshore }: World,
  path: string,
  body: object,
): Promise<{ id?: string; error?: string }> {
  const answer = await longshore.call("POST", path, body);
  if (answer.status === 202) return { id: answer.body.id };
  ok(answer.status >= 400, `status ${answer.status}`);
  return { error: JSON.stringify(answer.body) };
}

/** One container is there and runs, on data of its version, and the job says which one it is. */
async function assertWhole(
  world: World,
  { before, after }: Operation,
  job: EndedJob | undefined,
): Promise<void> {
  const { engine } = world;
  const { files, version, isLeft = false } = job?.status === "succeeded" ? after : before;
  const list = () => engine.docker("ps", "--all", ...USERS, "--format={{.Names}} {{.State}}");
  const expected = `${NAME} ${isLeft ? "exited" : "running"}`;
  await until("one container is there", async () => await list() === expected).catch(
    async () => equal(await list(), expected),
  );
  equal(await filesOf(world), files);
  const format = "--format={{json .Config.Cmd}} {{.HostConfig.RestartPolicy.Name}}";
  const command = JSON.stringify(["sh", "-c", VERSIONS[version]]);
  equal(await engine.docker("inspect", format, NAME), `${command} ${isLeft ? "no" : "always"}`);
}
