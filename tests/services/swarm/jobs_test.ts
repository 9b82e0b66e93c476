import { deepEqual, equal, rejects, throws } from "node:assert/strict";
import { UNLIMITED } from "../../../services/access/scope.ts";
import type { Service, ServiceSpec } from "../../../engine/swarm.ts";
import type { Caller } from "../../../services/access/caller.ts";
import { changeService } from "../../../services/swarm/change_steps.ts";
import { rollBackService, updateService } from "../../../services/swarm/change_service.ts";
import { converge, silenceMaxMs } from "../../../services/swarm/converge.ts";
import { rotateValue, secretRotationKind } from "../../../services/swarm/rotation.ts";
import { restartKind, withRollback } from "../../../services/swarm/service_jobs.ts";
import { type FakeAnswer, fakeEngine } from "../../helpers/fake_engine.ts";
import { type FakeSwarm, fakeSwarm, secretOf, serviceOf } from "../../helpers/fake_swarm.ts";
import { resumedJob } from "../../helpers/resumed_job.ts";
import { type TestApp, testApp } from "../../helpers/test_app.ts";
import { until } from "../../helpers/until.ts";

const ADMIN: Caller = { userId: "1", role: "admin", familyId: "", address: "" };
const rights = {
  hostLimits: () => undefined,
  grants: () => true,
  includeThoseOf: () => true,
  isAdmitted: () => true,
};

const specOf = (Image: string, container: object = {}): ServiceSpec => ({
  Name: "web",
  TaskTemplate: { ContainerSpec: { Image, ...container } },
  Mode: { Replicated: { Replicas: 1 } },
});

async function onSwarm(
  swarm: FakeSwarm,
  work: (deps: TestApp["deps"]) => Promise<void>,
  answers: Record<string, FakeAnswer> = {},
): Promise<void> {
  await using fake = fakeEngine({ ...swarm.answers, ...answers });
  using app = testApp({ engine: fake.engine });
  await work(app.deps);
}

const ended = (deps: TestApp["deps"], { id }: { id: string }) =>
  until("the job has ended", () => Promise.resolve(deps.jobs.get(id) === undefined));

const imageOf = ([service]: Service[]) => service?.Spec.TaskTemplate?.ContainerSpec?.Image;

/** A job that was killed in its step `change` after the service had been read. */
async function killedIn(
  deps: TestApp["deps"],
  id: string,
  options: { rollback?: "previous" } = {},
): Promise<ReturnType<typeof resumedJob<object>>["job"]> {
  const first = resumedJob({ target: "web", input: {} }, {});
  const stop = new Error("killed");
  const { job } = first;
  const step: typeof job.step = (name, work) =>
    name === "change" ? Promise.reject(stop) : job.step(name, work);
  await rejects(changeService(deps, { ...job, step }, id, (spec) => spec, options), stop);
  const results = { read: job.resultOf("read") };
  return resumedJob({ target: "web", input: {} }, { results, begun: ["change"] }).job;
}

Deno.test("the update settings of a rollback keep those of the service, and a job gets none", () => {
  deepEqual(withRollback(specOf("a")).UpdateConfig, { Parallelism: 1, FailureAction: "rollback" });
  deepEqual(withRollback({ ...specOf("a"), UpdateConfig: { Parallelism: 0 } }).UpdateConfig, {
    Parallelism: 0,
    FailureAction: "rollback",
  });
  equal(withRollback({ Mode: { GlobalJob: {} } }).UpdateConfig, undefined);
});

Deno.test("a change that was not made before a kill is made, though another one was", () => {
  const swarm = fakeSwarm([serviceOf(specOf("app:1"))]);
  return onSwarm(swarm, async (deps) => {
    const [{ ID }] = swarm.services as [Service];
    const job = await killedIn(deps, ID);
    swarm.services[0]!.Spec = specOf("app:other");
    const change = () => specOf("app:2");
    await changeService(deps, job, ID, change);
    equal(imageOf(swarm.services), "app:2");
    swarm.services[0]!.Spec.TaskTemplate = specOf("app:3").TaskTemplate!;
    const again = resumedJob({ target: "web", input: {} }, {
      results: { read: job.resultOf("read") },
      begun: ["change"],
    });
    await changeService(deps, again.job, ID, change);
    equal(imageOf(swarm.services), "app:3");
  });
});

Deno.test("a rollback is neither repeated nor made to another version than the one seen", () => {
  const swarm = fakeSwarm([serviceOf(specOf("app:2"), { PreviousSpec: specOf("app:1") })]);
  return onSwarm(swarm, async (deps) => {
    const [service] = swarm.services as [Service];
    const job = await killedIn(deps, service.ID, { rollback: "previous" });
    Object.assign(service, { Spec: specOf("app:3"), PreviousSpec: specOf("app:2") });
    await rejects(
      changeService(deps, job, service.ID, (spec) => spec, { rollback: "previous" }),
      /Another program has changed web/,
    );
    Object.assign(service, { Spec: specOf("app:1"), PreviousSpec: specOf("app:2") });
    await changeService(deps, job, service.ID, (spec) => spec, { rollback: "previous" });
    equal(imageOf(swarm.services), "app:1");
  });
});

Deno.test("tasks that fail after Swarm has completed the update end the job", () => {
  const service = serviceOf(specOf("bad:1"), {
    UpdateStatus: { State: "completed", StartedAt: "2026-01-01T00:00:00Z" },
  });
  return onSwarm(fakeSwarm([service]), async (deps) => {
    const { job } = resumedJob({ target: "web", input: {} }, {});
    await rejects(
      converge(deps, job, service.ID, { StartedAt: undefined }),
      { status: "failed", message: "New tasks fail: exit 1" },
    );
  });
});

Deno.test("a job waits longer than Swarm's own pauses, and while the swarm has no leader", () => {
  const minutes = 60e9;
  equal(
    silenceMaxMs({ Spec: { UpdateConfig: { Delay: 30 * minutes, Monitor: minutes } } }),
    41 * 60e3,
  );
  equal(silenceMaxMs({ Spec: {} }), 10 * 60e3);
  const swarm = fakeSwarm([serviceOf(specOf("app:1"))]);
  let refusals = 1;
  return onSwarm(swarm, async (deps) => {
    const { job } = resumedJob({ target: "web", input: {} }, {});
    equal((await converge(deps, job, "web", { StartedAt: undefined })).running, 1);
    equal(refusals, 0);
  }, {
    "GET /services/*": (request) => {
      if (refusals === 0) return swarm.answers["GET /services/*"]!(request);
      refusals--;
      return Response.json({ message: "The swarm does not have a leader" }, { status: 500 });
    },
  });
});

Deno.test("the tasks of a large service are compared with its whole specification", () => {
  const Env = [`TEXT=${"x".repeat(2_048)}`];
  const spec = { ...specOf("app:1", { Env }), Mode: { Replicated: { Replicas: 2_000 } } };
  return onSwarm(fakeSwarm([serviceOf(spec)]), async (deps) => {
    const { job } = resumedJob({ target: "web", input: {} }, {});
    equal((await converge(deps, job, "web", { StartedAt: undefined })).running, 2_000);
  });
});

Deno.test("a custom role chooses a tag, but not another repository", () =>
  onSwarm(fakeSwarm([serviceOf(specOf("app:1"))]), async (deps) => {
    const operator: Caller = { ...ADMIN, role: "operator", rights };
    const limited: Caller = {
      ...ADMIN,
      scope: { ...UNLIMITED, stacks: ["*"] },
    };
    const other = { image: "other:1" };
    await rejects(updateService(deps, operator, "web", other), { code: "forbidden" });
    await rejects(updateService(deps, limited, "web", other), { code: "not_found" });
    await ended(deps, await updateService(deps, operator, "web", { image: "app:2" }));
  }));

Deno.test("a rollback to a version whose secret is gone is refused", () => {
  const PreviousSpec = specOf("app:1", { Secrets: [{ SecretID: "s0", SecretName: "old" }] });
  const swarm = fakeSwarm([serviceOf(specOf("app:2"), { PreviousSpec })]);
  return onSwarm(swarm, async (deps) => {
    await rejects(rollBackService(deps, ADMIN, "web"), {
      code: "conflict",
      message: "Secret old of the earlier version is gone",
    });
  });
});

Deno.test("a job reserves its services", () =>
  onSwarm(fakeSwarm(), (deps) => {
    const restart = { target: "web", input: { id: "s1", stack: null } };
    using _ = restartKind.reserve!(deps, restart);
    const rotation = { affected: [{ id: "s1", name: "web" }] };
    throws(
      () => secretRotationKind.reserve!(deps, { target: "key", input: rotation as never }),
      /web is being updated/,
    );
    return Promise.resolve();
  }));

for (
  const { what, spec, error } of [
    {
      what: "of a stack",
      spec: { Labels: { "longshore.value": "key" } },
      error: "Secret key belongs to a stack; change it in the stack's sources",
    },
    {
      what: "of another store",
      spec: { Driver: { Name: "vault" } },
      error: "Secret key is in another store; change it there",
    },
  ]
) {
  Deno.test(`a secret ${what} is not rotated`, () =>
    onSwarm(fakeSwarm([], [secretOf("key", spec)]), async (deps) => {
      const value = new Uint8Array([1]);
      await rejects(rotateValue(deps, ADMIN, "secret", "key", value), { message: error });
    }));
}

Deno.test("a rotation keeps the templating and takes up what an interrupted one left", () => {
  const Templating = { Name: "golang" };
  const swarm = fakeSwarm([serviceOf(specOf("app:1"))], [secretOf("key", { Templating })]);
  return onSwarm(swarm, async (deps) => {
    const value = new Uint8Array([1]);
    await ended(deps, await rotateValue(deps, ADMIN, "secret", "key", value));
    deepEqual(
      swarm.secrets.map(({ Spec: { Templating, Labels } }) => ({ Templating, Labels })),
      [{ Templating, Labels: { "longshore.rotated": "key" } }],
    );
    swarm.secrets.push(secretOf("key"));
    await ended(deps, await rotateValue(deps, ADMIN, "secret", "key", value));
    equal(swarm.secrets.length, 1);
    const gone = { id: "gone", name: "gone" };
    const input = { kind: "secret", from: gone, to: gone, services: [] } as const;
    const { job } = resumedJob({ target: "key", input: { ...input, services: [] } }, {});
    deepEqual(await secretRotationKind.run(deps, job), { ...gone, services: 0, removed: true });
  });
});
