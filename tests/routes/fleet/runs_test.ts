import { deepEqual, equal, match } from "node:assert/strict";
import { insertJob, selectJob } from "../../../db/jobs.ts";
import { JOB_KINDS } from "../../../services/community/job_kinds.ts";
import { emptyCopy } from "../../../services/fleet/copies/copy.ts";
import type { RunResult } from "../../../services/fleet/runs/run.ts";
import { resumeJobs } from "../../../services/jobs/runner.ts";
import { RUN_ON_HOSTS } from "../../../services/jobs/view.ts";
import { insertRoleAssignment } from "../../../db/enterprise/role_assignments.ts";
import { scriptHost, sendText, type TestFleet } from "../../helpers/fleet.ts";
import { scopedFleet } from "../../helpers/scoped_fleet.ts";
import type { CallOptions } from "../../helpers/test_app.ts";

const RUN = "/api/fleet/run";
const ENGINE = {
  "GET /images/json": () => Response.json([]),
  "GET /info": () => Response.json({}),
  "GET /networks": () => Response.json([]),
  "GET /volumes": () => Response.json({ Volumes: [] }),
};

/** Runs to the end, and returns the job with its outcomes as `edge-7 done`. */
async function runToEnd({ hub }: TestFleet, body: unknown, options?: CallOptions) {
  const { status, body: job } = await hub.call("POST", RUN, body, options);
  equal(status, 202, JSON.stringify(job));
  return await ended(hub, job.id, options);
}

async function ended(hub: TestFleet["hub"], id: string, options?: CallOptions) {
  await hub.deps.jobs.idle();
  const { body } = await hub.call("GET", `/api/jobs/${id}`, undefined, options);
  const hosts = body.result?.hosts ?? [];
  const outcomes = hosts.map(({ name, state }: { name: string; state: string }) =>
    `${name} ${state}`
  );
  return { ...body, hosts, outcomes };
}

Deno.test("a run has an outcome for each host, and is in the audit logs of both sides", async () => {
  await using fleet = await scopedFleet({ engine: ENGINE });
  const end = new AbortController();
  const first = fleet.hub.deps.events.subscribe(end.signal)[Symbol.asyncIterator]().next();
  const body = { action: "update-check", labels: ["site"] };
  const plan = await fleet.hub.call("POST", `${RUN}?plan=true`, body);
  deepEqual(
    plan.body.hosts.map(({ name, obstacle }: { name: string; obstacle: string }) => [
      name,
      obstacle,
    ]),
    [["edge-7", null], ["shop-1", "never"]],
  );

  const job = await runToEnd(fleet, body);
  deepEqual([job.status, job.outcomes], ["failed", ["edge-7 done", "shop-1 away"]]);
  match(job.error, /^1 of 2 hosts done; shop-1 away$/);
  const { body: jobs } = await fleet.member.call("GET", "/api/jobs");
  deepEqual(jobs.jobs.map(({ id }: { id: string }) => id), [job.hosts[0].jobId]);
  const actionsOf = async (side: TestFleet["hub"]) =>
    (await side.call("GET", "/api/audit")).body.entries
      .map(({ action, hub }: { action: string; hub: { user: string } | null }) => [
        action,
        hub?.user,
      ]);
  deepEqual(await actionsOf(fleet.member), [["POST /api/updates/check", "API key"]]);
  deepEqual(await actionsOf(fleet.hub), [[`POST ${RUN}`, undefined]]);
  const { value: event } = await first;
  deepEqual([event!.event, (event!.data as { done: number }).done], ["fleet.run_ended", 1]);
  end.abort();
});

Deno.test("a host refuses what it does not allow its hub, and others are not asked", async () => {
  await using fleet = await scopedFleet({ config: { fleetAllow: "operate" } });
  const prune = { action: "prune", hosts: ["edge-7"] };
  const { hosts: [outcome] } = await runToEnd(fleet, prune);
  equal(outcome.state, "refused");
  match(
    outcome.reason,
    /role admin .* this host allows .* the role operator at most \(FLEET_ALLOW\)/,
  );
  const figures = { engine: null, cpuPercent: 1, cpuCount: 2, memoryPercent: 3, diskPercent: 4 };
  fleet.hub.deps.fleet.copies.set("host-7", {
    ...emptyCopy(),
    host: { ...figures, allows: "operate" },
  });
  const obstacleOf = async (body: unknown) =>
    (await fleet.hub.call("POST", `${RUN}?plan=true`, body)).body.hosts[0].obstacle;
  equal(await obstacleOf(prune), "FLEET_ALLOW=operate");
  equal(await obstacleOf({ action: "update-check", hosts: ["edge-7"] }), null);

  const edge: CallOptions = { role: "admin", scope: { hosts: ["edge-*"] } };
  const limited = await runToEnd(fleet, { action: "update-check", labels: ["site"] }, edge);
  deepEqual(limited.hosts.map(({ name }: { name: string }) => name), ["edge-7"]);
  const statusOf = async (body: unknown, options?: CallOptions) =>
    (await fleet.hub.call("POST", RUN, body, options)).status;
  equal(await statusOf({ action: "prune", hosts: ["shop-1"] }, edge), 404);
  equal(await statusOf(prune, { role: "operator" }), 403);
  equal(await statusOf({ action: "prune", hosts: ["edge-7"], labels: ["site"] }), 400);
  equal(await statusOf({ action: "deploy", hosts: ["edge-7"], options: { stack: "shop" } }), 404);
});

Deno.test("a deploy stores this server's sources at the host, again as the next version", async () => {
  await using fleet = await scopedFleet({ config: { fleetAllow: "admin" }, engine: ENGINE });
  const compose = "services:\n  web:\n    image: nginx:1\n";
  const created = await fleet.hub.call("POST", "/api/stacks", {
    name: "shop",
    compose,
    deploy: false,
  });
  equal(created.status, 201, JSON.stringify(created.body));
  for (const version of [1, 2]) {
    const run = { action: "deploy", labels: ["site=kiel"], options: { stack: "shop" } };
    const { hosts: [outcome] } = await runToEnd(fleet, run);
    equal(typeof outcome.jobId, "string", JSON.stringify(outcome));
    const { body } = await fleet.member.call("GET", "/api/stacks/shop/source");
    deepEqual([body.compose, body.version], [compose, version]);
  }
});

/** A run that an earlier process has begun at edge-7. Returns its id. */
function insertRun({ deps: { db, now } }: TestFleet["hub"]): string {
  const at = now().toISOString();
  const id = crypto.randomUUID();
  insertJob(db, {
    ...{ id, kind: RUN_ON_HOSTS, targetType: "host", target: "hosts x", stack: null },
    ...{ status: "running", progress: null, error: null, result: null },
    ...{ createdBy: "key", tokenId: null, createdAt: at, startedAt: at, endedAt: null },
    steps: [{
      ...{ name: "start edge-7", status: "running", startedAt: at },
      ...{ endedAt: null, message: null },
    }],
    input: {
      ...{ action: "update-check", options: {}, stack: null, version: null, role: "admin" },
      hosts: [{ id: "host-7", name: "edge-7", permissions: [] }],
    },
  });
  return id;
}

for (const hasArrived of [true, false]) {
  Deno.test(
    `a request that was sent before a crash is not repeated, if it ${
      hasArrived ? "has" : "has not"
    } arrived`,
    async () => {
      await using fleet = await scopedFleet({ engine: ENGINE });
      const { hub, member } = fleet;
      if (hasArrived) {
        const started = await fleet.pass("POST", "/api/updates/check", {});
        equal(started.status, 202);
        await started.body?.cancel();
      }
      const id = insertRun(hub);
      resumeJobs(hub.deps, JOB_KINDS);
      const { outcomes } = await ended(hub, id);
      deepEqual(outcomes, [hasArrived ? "edge-7 done" : "edge-7 failed"]);
      const { body } = await member.call("GET", "/api/jobs");
      equal(body.jobs.length, hasArrived ? 1 : 0);
    },
  );
}

Deno.test("a run that is resumed ends at hosts that its user may not see any more", async () => {
  await using fleet = await scopedFleet({ engine: ENGINE });
  const { hub, member } = fleet;
  const { body: role } = await hub.call("POST", "/api/ext/service-enterprise/roles", {
    ...{ name: "Shop", permissions: [], hosts: ["shop-*"] },
  });
  const id = insertRun(hub);
  insertRoleAssignment(hub.deps.db, {
    ...{ user_id: "key", role_id: role.id, assigned_by: "key" },
    assigned_at: "2026-01-01T00:00:00.000Z",
  });
  resumeJobs(hub.deps, JOB_KINDS);
  await hub.deps.jobs.idle();
  const job = selectJob(hub.deps.db, id)!;
  // Its names are of hosts that the user does not see.
  equal((await hub.call("GET", `/api/jobs/${id}`)).status, 404);
  deepEqual((job.result as RunResult).hosts.map(({ state }) => state), ["refused"]);
  equal((await member.call("GET", "/api/jobs")).body.jobs.length, 0);
});

const answer = (body: unknown) => {
  const text = JSON.stringify(body);
  return `HTTP/1.1 200 OK\r\ncontent-length: ${text.length}\r\n\r\n${text}`;
};

Deno.test("a host that answers nonsense fails, and the run goes on at others", async () => {
  await using fleet = await scopedFleet();
  scriptHost(fleet, (stream) => sendText(stream, answer(null)));
  await fleet.hub.call("POST", "/api/stacks", {
    ...{ name: "shop", compose: "services:\n  web:\n    image: nginx:1\n", deploy: false },
  });
  for (const action of ["update-check", "deploy"]) {
    const options = action === "deploy" ? { stack: "shop" } : {};
    const { outcomes, hosts } = await runToEnd(fleet, { action, labels: ["site"], options });
    deepEqual(outcomes, ["edge-7 failed", "shop-1 away"]);
    match(hosts[0].reason, /invalid answer/);
  }
});

Deno.test("a run of a prune says what was removed and freed at each host", async () => {
  await using fleet = await scopedFleet();
  const kind = (count: number, error: string | null = null) => ({ count, error });
  const report = {
    ...{ containers: kind(2), networks: kind(0), volumes: kind(0) },
    ...{ images: kind(3), buildCache: kind(0), totalReclaimed: 1_200 },
  };
  const reports = [report, { ...report, images: kind(0, "The engine refuses\nit") }];
  scriptHost(fleet, (stream) => sendText(stream, answer(reports.shift())));
  const prune = { action: "prune", hosts: ["edge-7"] };
  const { hosts: [done] } = await runToEnd(fleet, prune);
  const pruned = { containers: 2, networks: 0, volumes: 0, images: 3, buildCache: 0 };
  deepEqual([done.state, done.pruned], ["done", { ...pruned, freedBytes: 1_200 }]);
  const { hosts: [failed] } = await runToEnd(fleet, prune);
  deepEqual([failed.state, failed.reason], ["failed", "The engine refuses"]);
  deepEqual(failed.pruned, { ...pruned, images: 0, freedBytes: 1_200 });
});

Deno.test("the job of a request whose answer was lost is followed, if it is of the stack", async () => {
  await using fleet = await scopedFleet();
  const createdAt = fleet.hub.deps.now().toISOString();
  const jobOf = (target: string) => ({
    ...{ id: `of-${target}`, target, createdBy: "hub/x/key", createdAt },
    ...{ status: "succeeded", error: null, endedAt: createdAt },
  });
  const heads = scriptHost(fleet, (stream, head) => {
    if (head.startsWith("POST")) return stream.close();
    const isList = head.startsWith("GET /api/jobs?");
    const body = isList ? { jobs: ["blog", "shop"].map(jobOf) } : jobOf("shop");
    return sendText(stream, answer(body));
  });
  const update = (stack: string) =>
    runToEnd(fleet, { action: "update", hosts: ["edge-7"], options: { stack } });
  const { hosts: [shop] } = await update("shop");
  deepEqual([shop.state, shop.jobId], ["done", "of-shop"]);
  const { hosts: [other] } = await update("other");
  deepEqual([other.state, other.jobId], ["failed", null]);
  match(other.reason, /may have begun/);
  equal(heads.filter((head) => head.startsWith("POST")).length, 2);
});

Deno.test("a run is cancelled by those who may start it", async () => {
  await using fleet = await scopedFleet();
  const { hub } = fleet;
  const asked = Promise.withResolvers<void>();
  scriptHost(fleet, () => asked.resolve());
  const { body: { id } } = await hub.call("POST", RUN, { action: "prune", hosts: ["edge-7"] });
  await asked.promise;
  const cancel = async (role: "operator" | "admin") =>
    (await hub.call("POST", `/api/jobs/${id}/cancel`, undefined, { role })).status;
  deepEqual([await cancel("operator"), await cancel("admin")], [403, 202]);
  await hub.deps.jobs.idle();
});
