import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { EngineUnreachableError } from "../../../../engine/errors.ts";
import { AppError } from "../../../../services/errors.ts";
import { JobEnd } from "../../../../services/jobs/kind.ts";
import { throwIfInterrupted } from "../../../../services/updates/run/interruption.ts";
import type {
  FailedUpdate,
  UpdateInput,
  UpdateJob,
  UpdateResult,
} from "../../../../services/updates/run/job.ts";
import { update } from "../../../../services/updates/run/machine.ts";
import { inspectIfThere, type Pair } from "../../../../services/updates/run/members.ts";
import { restartStopped, stopAside } from "../../../../services/updates/run/swap.ts";
import {
  idOf,
  simulateContainers,
  type SimulatedContainer,
} from "../../../helpers/fake_containers.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { testApp } from "../../../helpers/test_app.ts";

const pairOf = (name: string, containerName = name) => ({
  oldId: idOf(`old ${name}`),
  newId: idOf(containerName),
  name,
  ran: true,
  worked: true,
  restartPolicy: { Name: "always" },
  ports: [],
});

Deno.test("restartStopped() leaves a container alone that a later update has replaced", async () => {
  const replaced = "side-longshore-old-running-0123456789ab";
  await using fake = fakeEngine(simulateContainers([
    { name: "vpn", state: "exited" },
    { name: replaced, state: "exited" },
    { name: "side" },
  ]));
  using app = testApp({ engine: fake.engine });

  await restartStopped(app.deps, [pairOf("vpn"), pairOf("side", replaced)]);

  deepEqual(
    fake.requests.filter((request) => request.startsWith("POST")),
    [`POST /containers/${idOf("vpn")}/start`],
  );
});

Deno.test("stopAside() stops a container that exits while its restart policy is changed", async () => {
  const id = idOf("web");
  const refusals = ["cannot update a stopped container: unknown"];
  await using fake = fakeEngine({
    ...simulateContainers([{ name: "web", restart: "always" }]),
    "POST /containers/*/update": () => {
      const why = refusals.pop();
      if (why === undefined) return Response.json({ Warnings: null });
      return Response.json({ message: `Cannot update container ${id}: ${why}` }, { status: 500 });
    },
  });
  using app = testApp({ engine: fake.engine });

  await stopAside(app.deps, (await inspectIfThere(fake.engine, id))!);

  deepEqual(
    fake.requests.filter((request) => request.startsWith("POST")).map((each) => each.split("?")[0]),
    ["update", "update", "stop"].map((action) => `POST /containers/${id}/${action}`),
  );
});

/**
 * An update that has created its new container, which is about to be started.
 *
 * @param later Results of later steps.
 */
function updateJob(pair: Pair, later: Record<string, unknown> = {}): UpdateJob {
  const results: Record<string, unknown> = {
    plan: { oldImageId: "sha256:1", namedId: null, members: [pair], watched: [] },
    pull: { imageId: "sha256:2", digest: "sha256:2", digests: ["sha256:2"] },
    create: [pair],
    ...later,
  };
  return {
    id: "j1",
    target: "web",
    input: { name: "web", reference: "web:2", containerId: pair.oldId } as UpdateInput,
    attachment: undefined,
    signal: new AbortController().signal,
    step: async <Value>(name: string, work: () => Promise<Value>) =>
      (results[name] ??= await work()) as Value,
    resultOf: (name) => results[name],
    hasBegun: (name) => name in results,
    progress() {},
    log() {},
  };
}

/** Ends an update of which the old container is gone, with the results of its later steps. */
async function updateWithoutOld(later: Record<string, unknown>, signal?: AbortSignal) {
  const containers: SimulatedContainer[] = [{ name: "web", state: "exited" }];
  await using fake = fakeEngine({
    ...simulateContainers(containers),
    "POST /containers/*/update": () => Response.json({ Warnings: null }),
    "POST /containers/*/rename": () => new Response(null, { status: 204 }),
  });
  using app = testApp({ engine: fake.engine });
  const pair = pairOf("web");
  const plan = {
    ...{ oldImageId: "sha256:1", oldReference: "web:1", oldDigests: [], namedId: null },
    ...{ members: [pair], watched: [] },
    undone: { volumes: [], images: [], stack: null },
  };
  const kept = { plan, copy: "0".repeat(64), keep: { snapshot: "1".repeat(64), size: 1 } };
  const job = updateJob(pair, { ...kept, swap: true, ...later });
  const resumed = { ...job, signal: signal ?? job.signal };
  const end = await update(app.deps, resumed).catch((error: unknown) => error);
  return { end, containers };
}

Deno.test("a failed update without its old container leaves the new one stopped", async () => {
  const evidence = { reason: "it exited", container: null, isCancelled: false, evidence: [] };
  const { end, containers } = await updateWithoutOld({
    ...{ verify: undefined, evidence, keep_written: "2".repeat(64), put_back: true },
  });
  ok(end instanceof JobEnd, `${end instanceof Error ? end.stack : end}`);
  equal(end.status, "needs_attention");
  deepEqual(containers, [{ name: "web", state: "exited" }]);
  equal((end.result as FailedUpdate).id, idOf("web"));
});

Deno.test("an update that has begun to commit does not go back, also when it is cancelled", async () => {
  const later = {
    ...{ verify: { verdict: "success", reason: "it runs" }, measure: 1, commit: undefined },
  };
  const { end, containers } = await updateWithoutOld(later, AbortSignal.abort());
  equal((end as UpdateResult).verdict, "success", `${end}`);
  deepEqual(containers, [{ name: "web", state: "exited" }]);
});

/**
 * Runs an update whose calls about the new container time out, or break, while the engine answers
 * others. It is continued as the runner does it.
 */
async function updateToHanging(
  isHanging: (method: string, path: string) => boolean,
  reason: "timeout" | "broken" = "timeout",
) {
  const containers: SimulatedContainer[] = [
    { name: "old web" },
    { name: "web", state: "created" },
  ];
  await using fake = fakeEngine({
    ...simulateContainers(containers),
    "POST /containers/*/update": () => Response.json({ Warnings: null }),
    "POST /containers/*/rename": () => new Response(null, { status: 204 }),
  });
  using app = testApp({ engine: fake.engine });
  const { engine } = fake;
  const request = engine.request.bind(engine);
  engine.request = (method, path, options) =>
    path.includes(idOf("web")) && isHanging(method, path)
      ? Promise.reject(new EngineUnreachableError("did not answer within 30 s", reason))
      : request(method, path, options);
  // Not judged after its return, which takes seconds.
  const pair = { ...pairOf("web"), worked: false };
  const job = updateJob(pair);
  let end: unknown;
  for (let attempts = 0; attempts < 10 && !(end instanceof JobEnd); attempts++) {
    end = await update(app.deps, job).catch((error: unknown) => error);
  }
  ok(end instanceof JobEnd, `${end instanceof Error ? end.stack : end}`);
  return { status: end.status, message: end.message, containers };
}

Deno.test("an update whose new container hangs when it starts is rolled back", async () => {
  const { status, containers } = await updateToHanging((_, path) => path.endsWith("/start"));
  equal(status, "rolled_back");
  deepEqual(containers, [{ name: "old web", state: "running" }]);
});

Deno.test("an update restores the old container when every call about the new one hangs", async () => {
  const { status, message, containers } = await updateToHanging(() => true);
  equal(status, "needs_attention");
  match(
    message,
    new RegExp(`the new container of web \\(${idOf("web").slice(0, 12)}\\) could not`),
  );
  equal(containers[0]!.state, "running");
});

for (
  const { what, isBroken } of [
    { what: "each call", isBroken: () => true },
    { what: "each start", isBroken: (_: string, path: string) => path.endsWith("/start") },
  ]
) {
  Deno.test(`an update ends and restores the old container when ${what} about the new one breaks`, async () => {
    const { containers } = await updateToHanging(isBroken, "broken");
    equal(containers[0]!.state, "running");
  });
}

Deno.test("broken calls count as failures only if they are repeated and the engine has stayed", async () => {
  await using fake = fakeEngine();
  using app = testApp({ engine: fake.engine });
  const { eventStream } = app.deps;
  const broken = new EngineUnreachableError("The connection ended", "broken");
  for (const _ of [1, 2]) await rejects(throwIfInterrupted(app.deps, broken), broken);
  eventStream.recordBreak("The engine ended the stream");
  for (const _ of [1, 2]) await rejects(throwIfInterrupted(app.deps, broken), broken);
  const failure = await throwIfInterrupted(app.deps, broken);
  ok(failure instanceof AppError && failure.code === "unavailable");
});

Deno.test("an update continues later when the engine was silent, or accepts no new connection", async () => {
  await using fake = fakeEngine();
  using app = testApp({ engine: fake.engine });
  const timeout = new EngineUnreachableError("did not answer within 30 s", "timeout");
  const broken = new EngineUnreachableError("The connection ended", "broken");
  const silent = new EngineUnreachableError("does not answer", "silent");
  await throwIfInterrupted(app.deps, timeout);
  await rejects(throwIfInterrupted(app.deps, broken), broken);
  // It did not answer a ping; that it does so now says that it was busy, not what failed.
  await rejects(throwIfInterrupted(app.deps, silent), silent);
  await fake.down();
  await rejects(throwIfInterrupted(app.deps, timeout), EngineUnreachableError);
});
