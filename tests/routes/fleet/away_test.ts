/** Requests that are left for a host that is away: from the hub to their result, each once. @module */

import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { receiveBoxes } from "../../../commands/fleet_boxes.ts";
import { selectFleetBox, updateFleetBox } from "../../../db/fleet_boxes.ts";
import { insertFleetHost } from "../../../db/fleet_hosts.ts";
import { replaceMembership } from "../../../db/fleet_membership.ts";
import { insertJob, selectJobs } from "../../../db/jobs.ts";
import { createHandOver } from "../../../services/fleet/away/hand_over.ts";
import { runBoxes } from "../../../services/fleet/away/runner.ts";
import { exportBoxes } from "../../../services/fleet/away/boxes.ts";
import { applyFrame, emptyCopy } from "../../../services/fleet/copies/copy.ts";
import { insertRoleAssignment } from "../../../db/enterprise/role_assignments.ts";
import { linkKeys, noteKeys, toText } from "../../../services/fleet/enrolment/keys.ts";
import { containerOf, setContainers } from "../../helpers/fake_containers.ts";
import { connectUntil } from "../../helpers/cut_link.ts";
import { type TestFleet, testFleet } from "../../helpers/fleet.ts";
import type { CallOptions, TestAppOptions } from "../../helpers/test_app.ts";

const COMPOSE = "services:\n  web:\n    image: nginx:1\n";
const WEB = {
  name: "shop-web-1",
  labels: { "com.docker.compose.project": "shop", "com.docker.compose.service": "web" },
};

interface AwayFleet extends TestFleet {
  back(): void;
  leave(
    method: string,
    path: string,
    body: unknown,
    options?: CallOptions,
  ): Promise<{ status: number; body: Record<string, string> }>;
  /** One round at the hub, and everything that the member has to do. */
  round(): Promise<void>;
  pending(): Promise<Record<string, string>[]>;
}

/** A hub that has a copy of a host, which is away, with a container. */
async function awayFleet(member: TestAppOptions = {}): Promise<AwayFleet> {
  const now = "2026-01-01T12:00:00.000Z";
  const fleet = await testFleet({
    hub: { now, edition: "enterprise" },
    member: { now, ...member },
  });
  const [hub, host] = [fleet.hub.deps, fleet.member.deps];
  const keyOf = async (deps: typeof hub) => toText((await linkKeys(deps)).publicKey);
  insertFleetHost(hub.db, {
    ...{ id: fleet.host.id, name: fleet.host.name, labels: {}, linkKey: await keyOf(host) },
    ...{
      noteKey: "",
      machine: "",
      version: "0.1.0",
      address: "",
      inviteId: null,
      dialAddress: null,
      challenge: 0,
    },
    ...{ isPending: false, isConnected: false, isReportedAway: false, leftAt: null },
    ...{ joinedAt: now, lastSeenAt: now },
  });
  replaceMembership(host.db, {
    ...{ address: "https://hub", hubKey: await keyOf(hub), hubName: "hub-1" },
    ...{ hubNoteKey: (await noteKeys(hub)).publicKey, hostId: fleet.host.id, name: "edge-7" },
    ...{ isPending: false, challenge: null, challengeProof: null, joinedAt: now },
    ...{ hubTakesEvents: false, asksHub: false, labels: {} },
  });
  for (const { fleet } of [hub, host]) fleet.refresh();
  setContainers(fleet.member, WEB);
  const copy = emptyCopy();
  const { id, name, image, state } = containerOf(WEB);
  const row = { id, name, image, state, stack: "shop", health: null, self: false };
  const set = [{ ...row, createdAt: now, startedAt: now, crashLooping: false }];
  const data = JSON.stringify({ isWhole: true, set, removed: [] });
  applyFrame(copy, { event: "containers", data }, new Date(now));
  hub.fleet.copies.set(fleet.host.id, copy);
  const { link } = fleet;
  fleet.link = undefined;
  const handOver = createHandOver(hub);
  const pending = async () => (await fleet.hub.call("GET", "/api/fleet/pending")).body.pending;
  return Object.assign(fleet, {
    back: () => void (fleet.link = link),
    async leave(method: string, path: string, body: unknown, options?: CallOptions) {
      const answer = await fleet.pass(method, `${path}?later=12h`, body, options);
      return { status: answer.status, body: await answer.json() };
    },
    async round() {
      await handOver(AbortSignal.timeout(60_000));
      const stop = new AbortController();
      const running = runBoxes(host, stop.signal, () => {});
      // It waits for the next box when all have run.
      await Promise.race([running, host.fleet.changed(AbortSignal.timeout(1))]);
      while (host.db.get("SELECT 1 FROM fleet_boxes WHERE state IN ('waiting', 'begun')")) {
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      stop.abort();
      await running;
      await handOver(AbortSignal.timeout(60_000));
    },
    pending,
  });
}

const sources = { compose: COMPOSE, name: "blog", deploy: false };

Deno.test("what is left for a host runs once when it is back, as its user, and its result is shown", async () => {
  await using fleet = await awayFleet();
  const left = await fleet.leave("POST", "/api/stacks", sources);
  deepEqual([left.status, left.body.state, left.body.request], [
    202,
    "pending",
    "POST /api/stacks",
  ]);
  const seenWith = async (hosts: string[]) => {
    const options = { role: "viewer", scope: { hosts } } as const;
    return (await fleet.hub.call("GET", "/api/fleet/pending", undefined, options)).body.pending
      .length;
  };
  deepEqual([await seenWith(["edge-*"]), await seenWith(["shop-*"])], [1, 0]);
  const change = { compose: COMPOSE, expectedVersion: 1 };
  equal((await fleet.leave("PUT", "/api/stacks/blog/source", change)).status, 202);
  await fleet.round();
  deepEqual((await fleet.pending()).map(({ state }) => state), ["pending", "pending"]);

  fleet.back();
  await fleet.round();
  await fleet.round();
  deepEqual((await fleet.pending()).map(({ state, error }) => [state, error]), [
    ["succeeded", null],
    ["succeeded", null],
  ]);
  const { body } = await fleet.member.call("GET", "/api/stacks/blog/versions");
  equal(body.versions.length, 2);
  const { entries } = (await fleet.member.call("GET", "/api/audit?action=stacks")).body;
  deepEqual(
    entries.map(({ action, hub }: { action: string; hub: { user: string } | null }) => [
      action,
      hub?.user,
    ]).sort(),
    [["POST /api/stacks", "API key"], ["PUT /api/stacks/:name/source", "API key"]],
  );
  const own = (await fleet.hub.call("GET", "/api/audit?action=PUT")).body.entries;
  deepEqual([own[0].target, own[0].command], ["edge-7", "PUT /api/stacks/blog/source"]);
});

Deno.test("the same request goes to the host at once while it is connected", async () => {
  await using fleet = await awayFleet();
  fleet.back();
  const answer = await fleet.leave("POST", "/api/stacks", sources);
  deepEqual([answer.status, answer.body.name], [201, "blog"]);
  deepEqual(await fleet.pending(), []);
});

Deno.test("a host refuses what was based on containers that have changed since", async () => {
  await using fleet = await awayFleet();
  const left = await fleet.leave("POST", "/api/containers/shop-web-1/update", {});
  equal(left.status, 202, JSON.stringify(left.body));
  setContainers(fleet.member, { ...WEB, id: "f".repeat(64) });
  fleet.back();
  await fleet.round();
  const [pending] = await fleet.pending();
  deepEqual([pending!.state, pending!.error], ["refused", "Changed since it was left: shop-web-1"]);
  deepEqual(selectJobs(fleet.member.deps.db, {}, { limit: 9 }), []);
});

Deno.test("FLEET_ALLOW counts when it runs", async () => {
  for (const [fleetAllow, role] of [["read", "operator"], ["operate", "admin"]] as const) {
    await using fleet = await awayFleet({ config: { fleetAllow } });
    await fleet.leave("POST", "/api/stacks/shop/deploy", {});
    fleet.back();
    await fleet.round();
    const [pending] = await fleet.pending();
    equal(pending!.state, "refused");
    match(pending!.error!, new RegExp(`^The role ${role} `));
  }
});

Deno.test("what a user has left who was removed meanwhile is refused", async () => {
  await using fleet = await awayFleet();
  await fleet.leave("POST", "/api/stacks/shop/deploy", {});
  fleet.hub.deps.db.run("UPDATE fleet_pending SET user_id = 'removed'");
  fleet.back();
  await fleet.round();
  const [pending] = await fleet.pending();
  deepEqual([pending!.state, /was deleted/.test(pending!.error!)], ["refused", true]);
});

const REFUSED: [what: string, status: number, error: RegExp, request: [string, string, unknown]][] =
  [
    ["a removal", 400, /Only deploys and updates/, ["POST", "/api/stacks/shop/down", {}]],
    ["a deletion", 400, /Only deploys and updates/, ["DELETE", "/api/stacks/shop", undefined]],
    ["pruning", 400, /Only deploys and updates/, ["POST", "/api/system/prune", {}]],
    ["a terminal", 403, /./, ["POST", "/api/containers/shop-web-1/terminal/ticket", {}]],
    ["an unknown container", 404, /Container/, ["POST", "/api/containers/x/update", {}]],
    ["a text", 400, /JSON object/, ["POST", "/api/stacks/shop/deploy", "no"]],
  ];

Deno.test("only deploys and updates that are known can be left, once and by users who may", async () => {
  await using fleet = await awayFleet();
  for (const [what, status, error, request] of REFUSED) {
    const answer = await fleet.leave(...request);
    equal(answer.status, status, `${what}: ${JSON.stringify(answer.body)}`);
    match(answer.body.error!, error, what);
  }
  const update = ["POST", "/api/stacks/shop/update", {}] as const;
  const roles = await Promise.all(
    (["viewer", "operator"] as const).map((role) => fleet.leave(...update, { role })),
  );
  deepEqual(roles.map(({ status }) => status), [403, 202]);
  equal((await fleet.leave(...update)).status, 409);
  const limited = { scope: { stacks: ["blog"] } };
  equal((await fleet.leave("POST", "/api/stacks/shop/deploy", {}, limited)).status, 404);
  const wrong = await fleet.pass("POST", "/api/stacks/shop/deploy?later=1y", {});
  deepEqual([wrong.status, (await wrong.json()).error.slice(0, 12)], [400, "query.later:"]);
  fleet.hub.deps.fleet.copies.clear();
  const unknown = await fleet.leave("POST", "/api/stacks/shop/deploy", {});
  deepEqual([unknown.status, /expectedVersion/.test(unknown.body.error!)], [409, true]);
  const deploy = await fleet.leave("POST", "/api/stacks/shop/deploy", { expectedVersion: 1 });
  equal(deploy.status, 202);

  const [{ id } = { id: "" }] = await fleet.pending();
  equal((await fleet.hub.call("DELETE", `/api/fleet/pending/${id}`)).status, 200);
  equal((await fleet.hub.call("DELETE", `/api/fleet/pending/${id}`)).status, 404);
});

Deno.test("a request expires at the hub, and a box at the host", async () => {
  await using fleet = await awayFleet();
  await fleet.leave("POST", "/api/stacks", sources);
  const [box] = await exportBoxes(fleet.hub.deps, fleet.host.id);
  for (const { clock } of [fleet.hub, fleet.member]) clock.advance({ days: 1 });
  fleet.back();
  await fleet.round();
  deepEqual((await fleet.pending()).map(({ state }) => state), ["expired"]);
  const answer = await fleet.member.call("POST", "/api/boxes", { box });
  equal(answer.status, 400);
  match(answer.body.error, /^The box has expired at 2026-01-02/);
});

Deno.test("a box on a stick runs once, also if the link brings it as well", async () => {
  await using fleet = await awayFleet();
  await fleet.leave("POST", "/api/stacks", sources);
  const [box] = await exportBoxes(fleet.hub.deps, fleet.host.id);
  equal((await fleet.member.call("POST", "/api/boxes", { box })).body.state, "running");
  await fleet.round();
  const again = await fleet.member.call("POST", "/api/boxes", { box });
  deepEqual([again.status, again.body.state], [202, "succeeded"]);
  notEqual((await fleet.pending())[0]!.exportedAt, null);
  fleet.back();
  await fleet.round();
  equal((await fleet.pending())[0]!.state, "succeeded");
  equal((await fleet.member.call("GET", "/api/boxes")).body.boxes.length, 1);
});

Deno.test("boxes of a file are received although others of it are refused", async () => {
  await using fleet = await awayFleet();
  await fleet.leave("POST", "/api/stacks", sources);
  const [box = ""] = await exportBoxes(fleet.hub.deps, fleet.host.id);
  const outcome = await receiveBoxes(fleet.member.deps, ["lsbox_x", box, "x"]);
  deepEqual(outcome.received.map(({ request }) => request), ["POST /api/stacks"]);
  deepEqual(outcome.refused.map(({ box }) => box), [1, 3]);
  match(outcome.refused[0]!.reason, /not a box/);
});

Deno.test("a box that was changed, or is for another host or of another hub, is refused", async () => {
  await using fleet = await awayFleet();
  await using other = await awayFleet();
  await fleet.leave("POST", "/api/stacks", sources);
  const [box = ""] = await exportBoxes(fleet.hub.deps, fleet.host.id);
  const [content, signature] = box.split(".");
  const flip = (text: string) => text.replace(/.$/, (last) => last === "A" ? "Q" : "A");
  const send = async ({ member }: TestFleet, text: string) => {
    const { status, body } = await member.call("POST", "/api/boxes", { box: text });
    equal(status, 400);
    return body.error;
  };
  match(await send(fleet, `${flip(content!)}.${signature}`), /changed|not a box/);
  match(await send(fleet, `${content}.${"A".repeat(86)}`), /was changed, or the hub did not sign/);
  match(await send(fleet, "lsbox_x"), /not a box/);
  match(await send(other, box), /from another hub/);
  // Another host of the same hub.
  const [deps, { db }] = [other.member.deps, fleet.member.deps];
  const own = db.get<{ hub: string; note: string }>(
    "SELECT hub_key AS hub, hub_note_key AS note FROM fleet_membership",
  )!;
  deps.db.run("UPDATE fleet_membership SET hub_key = :hub, hub_note_key = :note", own);
  match(await send(other, box), /for another host/);
});

Deno.test("what is left runs once, at whatever message the link is lost while it is handed over", async () => {
  await using fleet = await awayFleet();
  let isCut = true;
  for (let last = 0; isCut; last++) {
    fleet.link = undefined;
    const left = await fleet.leave("POST", "/api/stacks", { ...sources, name: `s${last}` });
    equal(left.status, 202);
    for (const until of [last, Infinity]) {
      const { link, isCut: wasCut } = await connectUntil(fleet, until);
      await fleet.round();
      if (until === last) isCut = wasCut();
      link.close("the next one");
      await link.closed;
    }
    const { state, error } = (await fleet.pending()).at(-1)!;
    deepEqual([last, state, error], [last, "succeeded", null]);
    await fleet.member.call("DELETE", `/api/stacks/s${last}`);
  }
  const { body } = await fleet.member.call("GET", "/api/boxes");
  equal(body.boxes.length, (await fleet.pending()).length);
});

Deno.test("a request that was begun when the service was killed runs once", async () => {
  await using fleet = await awayFleet();
  const { db } = fleet.member.deps;
  fleet.back();
  for (const hasJob of [false, true]) {
    fleet.link = undefined;
    const left = await fleet.leave("POST", "/api/stacks/shop/deploy", { expectedVersion: 1 });
    equal(left.status, 202, JSON.stringify(left.body));
    const [box] = await exportBoxes(fleet.hub.deps, fleet.host.id);
    const { body: { id } } = await fleet.member.call("POST", "/api/boxes", { box });
    const at = fleet.member.clock.now().toISOString();
    updateFleetBox(db, id, { state: "begun", begunAt: at });
    const hub = selectFleetBox(db, id)!.hub;
    if (hasJob) {
      insertJob(db, {
        ...{ id: "job-1", kind: "stack.deploy", targetType: "stack", target: "shop", stack: null },
        ...{ status: "succeeded", progress: null, steps: [], input: {}, error: null, result: {} },
        ...{
          createdBy: `hub/${hub}/key`,
          tokenId: null,
          createdAt: at,
          startedAt: at,
          endedAt: at,
        },
      });
    }
    fleet.back();
    await fleet.round();
  }
  const states = (await fleet.pending()).map(({ state, jobId }) => [state, jobId]);
  // Without a job, it had no effect and runs: the stack has no sources.
  deepEqual(states, [["refused", null], ["succeeded", "job-1"]]);
});

Deno.test("a request that had its effect when the service was killed, without a job, may be done", async () => {
  await using fleet = await awayFleet();
  await fleet.leave("POST", "/api/stacks", sources);
  const [box] = await exportBoxes(fleet.hub.deps, fleet.host.id);
  const { body: { id } } = await fleet.member.call("POST", "/api/boxes", { box });
  const begunAt = fleet.member.clock.now().toISOString();
  updateFleetBox(fleet.member.deps.db, id, { state: "begun", begunAt });
  equal((await fleet.member.call("POST", "/api/stacks", sources)).status, 201);
  fleet.back();
  await fleet.round();
  const [pending] = await fleet.pending();
  equal(pending!.state, "failed");
  match(pending!.error!, /^May have been done before/);
});

Deno.test("a request is not sent any more for a user who may not see the host, and after its end", async () => {
  await using fleet = await awayFleet();
  const { call, deps } = fleet.hub;
  for (const name of ["blog", "shop"]) {
    await fleet.leave("POST", "/api/stacks", { ...sources, name });
  }
  const [, second] = await fleet.pending();
  fleet.back();
  const { link } = fleet;
  fleet.link = {
    ...link!,
    open: async (signal) => {
      // Deleted while the first one is handed over.
      await call("DELETE", `/api/fleet/pending/${second!.id}`);
      return await link!.open(signal);
    },
  };
  await fleet.round();
  fleet.link = undefined;
  const { body: { boxes } } = await fleet.member.call("GET", "/api/boxes");
  equal(boxes.length, 1);

  await fleet.leave("POST", "/api/stacks", { ...sources, name: "late" });
  const { body: role } = await call("POST", "/api/ext/service-enterprise/roles", {
    ...{ name: "Shop", permissions: [], hosts: ["shop-*"] },
  });
  insertRoleAssignment(deps.db, {
    ...{ user_id: "key", role_id: role.id, assigned_by: "key" },
    assigned_at: "2026-01-01T00:00:00.000Z",
  });
  fleet.link = link;
  await fleet.round();
  const states = deps.db.all("SELECT state FROM fleet_pending ORDER BY rowid");
  deepEqual(states.map((each) => ({ ...each as object })), [
    { state: "succeeded" },
    { state: "refused" },
  ]);
});

Deno.test("a host keeps a limited number of boxes, each for a month at most", async () => {
  await using fleet = await awayFleet();
  const send = async () => {
    await fleet.leave("POST", "/api/stacks", { ...sources, name: crypto.randomUUID() });
    const box = (await exportBoxes(fleet.hub.deps, fleet.host.id)).at(-1);
    const { status, body } = await fleet.member.call("POST", "/api/boxes", { box });
    return [status, body.error];
  };
  deepEqual(await send(), [202, undefined]);
  fleet.hub.deps.db.run("UPDATE fleet_pending SET expires_at = '2026-03-01T00:00:00.000Z'");
  const [box] = await exportBoxes(fleet.hub.deps, fleet.host.id);
  fleet.member.deps.db.run("DELETE FROM fleet_boxes");
  const late = await fleet.member.call("POST", "/api/boxes", { box });
  deepEqual([late.status, /more than 31 days/.test(late.body.error)], [400, true]);
});
