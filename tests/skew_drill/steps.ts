/**
 * Steps of a membership of a hub and a member, in their order. A step that one side lacks checks that the
 * other one says so.
 *
 * @module
 */

import { deepEqual, equal, match, notEqual, ok } from "node:assert/strict";
import { sseClient } from "../helpers/sse_client.ts";
import { openTerminal } from "../helpers/terminal_client.ts";
import { eventually, until } from "../helpers/until.ts";
import { AT_HOST, type Pair, type Side } from "./pair.ts";

/** @returns The part that a side lacks, and the words about it; `undefined` if all of it works. */
type Step = (pair: Pair) => Promise<string | undefined>;

const COMPOSE = "services: { web: { image: app:1 } }";
const LONG_AGO = "2020-01-01T00:00:00.000Z";
const DIGEST = `sha256:${"7".repeat(64)}`;

const has = ({ version }: Side, endpoint: string) => version.endpoints.has(endpoint);
const sends = ({ version }: Side, type: string) => version.messages.has(type);
const hubLacks = (endpoint: string) => `hub without ${endpoint}`;

export const STEPS: Record<string, Step> = {
  async "join and accept"({ hub, member, host, is }) {
    const invite = { name: "edge-7", labels: { site: "kiel" }, address: hub.running.baseUrl };
    const { token } = await hub.must("POST", "/api/fleet/invites", invite);
    const { code, stderr } = await member.run("join", token, "--yes");
    equal(code, 0, stderr);
    await until("the host is there", async () => (await host())?.state === "pending");
    const { id } = await host();
    equal((await hub.call("GET", `${AT_HOST}/containers`)).status, 503);
    await hub.must("POST", `/api/fleet/hosts/${id}/accept`);
    await is("connected");
    equal((await host()).version, member.version.name);
    return undefined;
  },

  async "requests"({ hub, member }) {
    const listed = await hub.must("GET", `${AT_HOST}/containers?state=running&name=web`);
    deepEqual(listed, await member.must("GET", "/api/containers?state=running&name=web"));
    const hook = { name: "x", url: "https://example.org/x", events: ["container.down"] };
    const { id } = await hub.must("POST", `${AT_HOST}/webhooks`, hook);
    await hub.must("PUT", `${AT_HOST}/webhooks/${id}`, { name: "y" });
    const { webhooks } = await member.must("GET", "/api/webhooks");
    deepEqual(webhooks.map(({ name }: { name: string }) => name), ["y"]);
    await hub.must("DELETE", `${AT_HOST}/webhooks/${id}`);
    // More than the window of a stream, and than what a note has the digest of.
    const compose = "services: {}\n# ".padEnd(1.5 * 1024 * 1024, "x");
    const large = await hub.call("POST", `${AT_HOST}/stacks`, { name: "shop", compose });
    equal(large.status, 400);
    match(large.body.error, /^body\.compose/);
    equal((await hub.call("POST", `${AT_HOST}/tokens`, {})).status, 403);
    const { entries } = await member.must("GET", "/api/audit?action=webhooks");
    deepEqual(
      new Set(entries.map((each: { hub: { user: string } }) => each.hub.user)),
      new Set(["API key"]),
    );
    return undefined;
  },

  /** Every read of both versions, which answers through the hub as at the member itself. */
  async "every read"({ hub, member }) {
    const all = new Set([...hub.version.endpoints, ...member.version.endpoints]);
    const paths = [...all].filter((each) => /^GET \/api\/[^{]*$/.test(each)).map((each) =>
      each.slice(4)
    );
    const lacking: string[] = [];
    for (const path of paths) {
      const passed = await hub.call("GET", AT_HOST + path.slice("/api".length))
        .catch((cause) => {
          throw new Error(`GET ${path}`, { cause });
        });
      if (passed.status < 400 || passed.status === 403) continue;
      const direct = await member.call("GET", path);
      equal(passed.status, direct.status, `${path}: ${JSON.stringify(passed)}`);
      if (has(member, `GET ${path}`)) continue;
      equal(passed.status, 404, path);
      match(passed.body.error, /\S/);
      lacking.push(path);
    }
    ok(paths.length > 50);
    return lacking.length === 0 ? undefined : `member without ${lacking.length} endpoints: 404`;
  },

  async "event stream"({ hub }) {
    const { ticket } = await hub.must("POST", `${AT_HOST}/stream/ticket`);
    const response = await fetch(`${hub.running.baseUrl}${AT_HOST}/stream?ticket=${ticket}`);
    const stream = sseClient(response.body!);
    equal((await stream.next())?.type, "metrics");
    await stream.cancel();
    return undefined;
  },

  async "terminal"({ hub }) {
    const path = `${AT_HOST}/containers/web/terminal`;
    const { ticket } = await hub.must("POST", `${path}/ticket`, { cols: 80, rows: 24 });
    const url = `${hub.running.baseUrl}${path}?ticket=${ticket}`.replace("http:", "ws:");
    const terminal = await openTerminal(url);
    await terminal.shows("welcome $ ");
    terminal.socket.close();
    return undefined;
  },

  async "lists over hosts"({ hub, member }) {
    if (!has(hub, "GET /api/fleet/containers")) return hubLacks("GET /api/fleet/containers");
    const isFollowed = has(member, "GET /api/feed");
    const names = ["containers", "stacks", "alerts", "updates"] as const;
    const overview = await until("the hub has read the host", async () => {
      const { hosts: [first] } = await hub.must("GET", "/api/fleet/overview");
      return first && (isFollowed ? first.asOf : first.problem) ? first : undefined;
    });
    for (const name of names) {
      const rows = (await hub.must("GET", `/api/fleet/${name}?host=edge-7`))[name];
      if (!isFollowed) equal(rows.length, 0);
      if (isFollowed && (name === "containers" || name === "stacks")) {
        ok(rows.length > 0, name);
        equal(rows[0].host, "edge-7");
        ok(rows[0].asOf);
      }
    }
    if (isFollowed) return void equal(overview.problem, null);
    return `member without GET /api/feed: ${overview.problem}`;
  },

  async "stream over hosts"({ hub, member }) {
    if (!sends(hub, "events")) return "hub without GET /api/stream?hosts";
    const response = await hub.open("/api/stream?hosts=*&types=event,containers,alerts");
    const stream = sseClient(response.body!);
    if (!has(member, "GET /api/feed")) {
      await stream.cancel();
      return "member without GET /api/feed: no rows";
    }
    const frame = await stream.next();
    await stream.cancel();
    deepEqual([frame?.type, frame?.data.host], ["containers", "edge-7"]);
    return undefined;
  },

  async "logs over hosts"({ hub }) {
    if (!has(hub, "GET /api/fleet/logs/stream")) return hubLacks("GET /api/fleet/logs/stream");
    const response = await hub.open("/api/fleet/logs/stream?container=edge-7/web&tail=1");
    const stream = sseClient(response.body!);
    const frame = await stream.next();
    await stream.cancel();
    deepEqual([frame?.type, frame?.data.host], ["log", "edge-7"], JSON.stringify(frame));
    return undefined;
  },

  async "runs on hosts"({ hub, member }) {
    if (!has(hub, "POST /api/fleet/run")) return hubLacks("POST /api/fleet/run");
    const hosts = ["edge-7"];
    const prune = await runJob(hub, { action: "prune", hosts, options: {} });
    deepEqual([prune.state, prune.reason], ["done", null]);
    await hub.must("POST", "/api/stacks", { name: "hubs", compose: COMPOSE, deploy: false });
    const deploy = await runJob(hub, { action: "deploy", hosts, options: { stack: "hubs" } });
    // The engine of the drill creates no containers; the sources must have arrived.
    ok(!/^(body|query)\b/.test(deploy.reason), deploy.reason);
    equal((await member.must("GET", "/api/stacks/hubs/versions")).versions.length, 1);
    return undefined;
  },

  async "metrics"({ hub }) {
    if (!has(hub, "GET /api/fleet/targets")) return hubLacks("GET /api/fleet/targets");
    const [target] = await hub.must("GET", "/api/fleet/targets");
    equal(target.labels.instance, "edge-7");
    const { status, body } = await hub.call("GET", "/metrics/federate?host=edge-7");
    if (status === 502) return `member without metrics for hubs: ${body.error}`;
    equal(status, 200);
    match(body, /^# HELP /);
    return undefined;
  },

  async "events"({ hub, member, told, events, happen }) {
    const isPassed = sends(hub, "events") && sends(member, "events");
    await happen("web");
    await happen("blog");
    const [side, other] = isPassed ? [told.hub, told.member] : [told.member, told.hub];
    const mentions = (container: string) =>
      side.filter((text) => new RegExp(`\\b${container}\\b`).test(text)).length;
    await until("people are told", () => mentions("web") > 0 && mentions("blog") > 0);
    deepEqual([mentions("web"), mentions("blog"), other], [1, 1, []]);
    const containers = new Set(events.map(({ id, body }) => `${id} ${JSON.stringify(body.data)}`));
    equal(containers.size, isPassed ? 2 : 0);
    if (isPassed) return void ok(events.every(({ body }) => body.host === "edge-7"));
    return `${sends(hub, "events") ? "member" : "hub"} without events: the member tells people`;
  },

  async "blocked images"({ hub, member, is }) {
    if (!has(hub, "GET /api/fleet/blocked")) return hubLacks("GET /api/fleet/blocked");
    await hub.must("GET", "/api/fleet/waves");
    await hub.must("PUT", "/api/fleet/waves", { waves: ["site=kiel"], hosts: 1, soakHours: 0 });
    if (!sends(member, "block")) {
      deepEqual((await hub.must("GET", "/api/fleet/blocked")).blocked, []);
      return "member without waves: nothing is blocked";
    }
    await member.kill();
    await is("away");
    member.sql(
      `INSERT INTO update_verdicts (id, outcome, digest, platform, image, image_id,
         container_name, reason, log, created_at)
       VALUES ('v1', 'failure', ?, 'linux/amd64', 'app:1', 'x', 'web', 'it failed', '[]', ?)`,
      ...[DIGEST, new Date().toISOString()],
    );
    await member.start();
    const blocked = await until("the image is blocked", async () => {
      return (await hub.must("GET", "/api/fleet/blocked")).blocked[0];
    });
    deepEqual([blocked.host, blocked.digest, blocked.reason], ["edge-7", DIGEST, "it failed"]);
    const kept = () => member.sql("SELECT is_blocked FROM fleet_blocks WHERE source = 'hub'");
    await until("the member has the signed block", () => kept()[0]?.is_blocked === 1);
    await hub.must("DELETE", `/api/fleet/blocked/${blocked.id}`);
    await until("the member knows that it was lifted", () => kept()[0]?.is_blocked === 0);
    return undefined;
  },

  async "left while away"({ hub, member, is }) {
    await member.kill();
    await is("away");
    const away = await hub.call("GET", `${AT_HOST}/containers`);
    equal(away.status, 503);
    match(away.body.error, /edge-7/);
    const later = { name: "later", compose: COMPOSE, deploy: false };
    const left = await hub.call("POST", `${AT_HOST}/stacks?later=1h`, later);
    equal(left.status, has(hub, "GET /api/fleet/pending") ? 202 : 503, JSON.stringify(left.body));
    await member.start();
    await is("connected");
    if (left.status === 503) return hubLacks("GET /api/fleet/pending");
    const { state, error } = await until("the request has ended", async () => {
      const { pending: [first] } = await hub.must("GET", "/api/fleet/pending");
      return ["pending", "running"].includes(first.state) ? undefined : first;
    });
    if (state === "succeeded") {
      equal((await hub.must("GET", `${AT_HOST}/stacks/later/versions`)).versions.length, 1);
      return undefined;
    }
    equal(has(member, "POST /api/boxes"), false, error);
    return `member without POST /api/boxes: ${state}: ${error}`;
  },

  async "hub restarted"({ hub, is }) {
    await hub.kill();
    await hub.start();
    await is("connected");
    await hub.must("GET", `${AT_HOST}/containers`);
    return undefined;
  },

  async "new keys of the member"({ hub, member, host, is }) {
    const { fingerprint } = await host();
    await member.kill();
    await is("away");
    member.sql("UPDATE fleet_keys SET created_at = ?", LONG_AGO);
    await member.start();
    await is("connected");
    const isReplaced = sends(hub, "rekey") && sends(member, "rekey");
    if (isReplaced) {
      const next = () => member.sql("SELECT is_confirmed FROM fleet_next_keys");
      await until("the hub has stored the new keys", () => next()[0]?.is_confirmed === 1);
    }
    await member.kill();
    await is("away");
    await member.start();
    await is("connected");
    await hub.must("GET", `${AT_HOST}/containers`);
    if (isReplaced) {
      await until("the keys are new", async () => (await host()).fingerprint !== fingerprint);
      return undefined;
    }
    equal((await host()).fingerprint, fingerprint);
    return `${sends(hub, "rekey") ? "member" : "hub"} without new keys: the former ones stay`;
  },

  async "new key of the hub"({ hub, member, is }) {
    const key = () =>
      hub.sql("SELECT public_key FROM fleet_keys WHERE purpose = 'link'")[0]!.public_key;
    const before = key();
    await hub.kill();
    hub.sql("UPDATE fleet_keys SET created_at = ? WHERE purpose = 'link'", LONG_AGO);
    await hub.start();
    await is("connected");
    if (sends(hub, "hub_key")) await until("the key is new", () => key() !== before);
    if (sends(hub, "hub_key") && sends(member, "hub_key")) {
      const known = () => member.sql("SELECT keys FROM fleet_known_hub_keys");
      await until("the member has it", () => JSON.stringify(known()).includes(String(key())));
    }
    await member.kill();
    await is("away");
    await member.start();
    await is("connected");
    await hub.must("GET", `${AT_HOST}/containers`);
    if (!sends(hub, "hub_key")) return "hub without new keys: the former one stays";
    if (!sends(member, "hub_key")) return "member without new keys of hubs: it uses the former one";
    return undefined;
  },

  async "leave"({ member, is }) {
    const { code, stderr } = await member.run("fleet", "leave");
    equal(code, 0, stderr);
    await is("left");
    return undefined;
  },

  async "dialled host"({ hub, member, is, host }) {
    const dials = has(hub, "POST /api/fleet/hosts");
    const listening = await member.run("join", "--listen", "--address", member.running.baseUrl);
    const [token] = /lsadd_\S+/.exec(listening.stdout) ?? [];
    if (token === undefined) {
      notEqual(listening.code, 0);
      return `member without join --listen: ${listening.stderr.split("\n")[0]}`;
    }
    const added = await hub.run("fleet", "add", token, "--name", "edge-7");
    if (added.code !== 0) {
      equal(dials, false, added.stderr);
      return `hub without fleet add: ${added.stderr.split("\n")[0]}`;
    }
    await is("connected");
    await hub.must("GET", `${AT_HOST}/containers`);
    await member.kill();
    await is("away");
    await member.start();
    await is("connected");
    await hub.must("DELETE", `/api/fleet/hosts/${(await host()).id}`);
    await eventually(() => deepEqual(member.sql("SELECT * FROM fleet_membership"), []));
    return undefined;
  },
};

/** Steps of a membership that goes on after an upgrade of one side. */
export const UPGRADED = [
  "requests",
  "event stream",
  "lists over hosts",
  "hub restarted",
  "leave",
] as const;

/** Runs an action on hosts. @returns The outcome at the only one. */
async function runJob(hub: Side, body: object) {
  const { id } = await hub.must("POST", "/api/fleet/run", body);
  const job = await until("the run has ended", async () => {
    const job = await hub.must("GET", `/api/jobs/${id}`);
    return job.endedAt === null ? undefined : job;
  });
  return job.result.hosts[0];
}
