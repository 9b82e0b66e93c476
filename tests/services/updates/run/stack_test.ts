import { deepEqual, rejects } from "node:assert/strict";
import type { StackUpdateJob } from "../../../../services/updates/run/job.ts";
import { updateStack } from "../../../../services/updates/run/stack.ts";
import { containerOf, idOf, simulateContainers } from "../../../helpers/fake_containers.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { testApp } from "../../../helpers/test_app.ts";

/** A job that updates the container `db`, with the results of its steps. */
function stackJob(results: Record<string, unknown>): StackUpdateJob {
  return {
    id: "j1",
    target: "shop",
    input: {
      ...{ containers: ["db"], affected: [], atomic: true, pull: "missing", force: false },
      ...{ stableSeconds: null, verifyTimeoutSeconds: null },
    },
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

Deno.test("the update of a stack reports an image that cannot be pulled", async () => {
  await using fake = fakeEngine({
    "GET /_ping": () => new Response("OK"),
    "GET /images/db:2/json": () => Response.json({ message: "No such image" }, { status: 404 }),
    "POST /images/create": () => Response.json({ message: "denied" }, { status: 500 }),
  });
  using app = testApp({ engine: fake.engine });
  const reported: unknown[] = [];
  app.deps.events.publish = ({ event, data }) => void reported.push([event, data]);
  const results: Record<string, unknown> = { plan: [{ reference: "db:2", imageId: null }] };
  const job = stackJob(results);
  await rejects(updateStack(app.deps, job));
  deepEqual(reported, [
    ["update.failed", {
      ...{ container: "db", id: "db", image: "db:2", digest: null, jobId: "j1" },
      reason: results.failure,
    }],
  ]);
});

Deno.test("the update of a stack reports what it cannot plan", async () => {
  await using fake = fakeEngine({
    "GET /_ping": () => new Response("OK"),
    "GET /containers/db/json": () => Response.json({ message: "No such" }, { status: 404 }),
  });
  using app = testApp({ engine: fake.engine });
  const { inventory } = app.deps;
  inventory.replaceAll([containerOf({ name: "db", image: "db:1" })], inventory.readNumber());
  const reported: unknown[] = [];
  app.deps.events.publish = ({ event, data }) => void reported.push([event, data]);
  await rejects(updateStack(app.deps, stackJob({})), { code: "not_found" });
  deepEqual(reported, [
    ["update.failed", {
      ...{ container: "db", id: "db", image: "db:1", digest: null, jobId: "j1" },
      reason: "Container db does not exist",
    }],
  ]);
});

Deno.test("a stack that fails after a container was updated says which snapshot has its data", async () => {
  await using fake = fakeEngine({ "GET /_ping": () => new Response("OK") });
  using app = testApp({ engine: fake.engine });
  const named = ["db", "web"].map((name) => ({ reference: `${name}:2`, imageId: null }));
  const before = "1".repeat(64);
  const job = stackJob({
    ...{ plan: named, failure: "web exited", "commit 1": true },
    "keep 1": { snapshot: before, size: 3 },
  });
  Object.assign(job.input, { containers: ["db", "web"], undone: ["db"], place: "here" });
  const data = { target: "here", before, size: 3, written: null, restored: null };
  await rejects(updateStack(app.deps, job), {
    status: "failed",
    message: "web exited; updated before: db",
    result: { evidence: [], data: [{ container: "db", ...data }] },
  });
});

Deno.test("no container of a stack runs on data of two versions while the stack goes back", async () => {
  const [old, fresh] = ["old", "new"].map((role) =>
    ["db", "web"].map((name) => ({ name: `${name}-${role}` }))
  );
  await using fake = fakeEngine({
    ...simulateContainers([
      ...old!.map((each) => ({ ...each, state: "exited" as const })),
      ...fresh!,
    ]),
    "POST /containers/*/update": () => Response.json({ Warnings: null }),
    "POST /containers/*/rename": () => new Response(null, { status: 204 }),
  });
  using app = testApp({ engine: fake.engine });
  const steps = (name: string, at: number) => ({
    [`plan ${at}`]: { oldImageId: "sha256:1", namedId: null, members: [], watched: [] },
    [`pull ${at}`]: { imageId: "sha256:2", digest: null, digests: [] },
    [`create ${at}`]: [{
      ...{ oldId: idOf(`${name}-old`), newId: idOf(`${name}-new`), name, ran: true },
      ...{ worked: false, restartPolicy: { Name: "no" }, ports: [] },
    }],
    [`swap ${at}`]: true,
  });
  const job = stackJob({
    plan: ["db", "web"].map((name) => ({ reference: `${name}:2`, imageId: null })),
    failure: "web exited",
    ...steps("db", 1),
    ...steps("web", 2),
    ...{
      "keep 1": { snapshot: "1".repeat(64), size: 3 },
      "keep_written 1": "2",
      "put_back 1": true,
    },
  });
  Object.assign(job.input, { containers: ["db", "web"], undone: ["db"], place: "here" });
  await rejects(updateStack(app.deps, job), { status: "rolled_back" });
  const done = fake.requests.flatMap((each) =>
    /^POST \/containers\/(\w+)\/(start|stop)/.exec(each)?.slice(1).join(" ") ?? []
  );
  deepEqual(done, [
    `${idOf("web-new")} stop`,
    `${idOf("db-new")} stop`,
    `${idOf("db-old")} start`,
    `${idOf("web-old")} start`,
  ]);
});
