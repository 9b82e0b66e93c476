/** Histories of images in a fleet of real engines. Each one has an application of its own. @module */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { until } from "../helpers/until.ts";
import {
  type Fleet,
  type HostName,
  HOSTS,
  LIMIT,
  logLines,
  type Member,
  runningDigest,
  SLEEP,
  STABLE_SECONDS,
  succeed,
} from "./fleet.ts";

/** Time in which a failed verdict has to reach every host, in milliseconds. */
const BLOCK_MAX_MS = 5_000;

const HEALTH = "HEALTHCHECK --interval=1s --retries=3";

/** The content of an image. */
interface Release {
  script: string;
  changes?: string[];
}

/** Releases by application and number. */
const RELEASES: Record<string, Release> = {
  "good:1": { script: SLEEP },
  "good:2": { script: SLEEP },
  "bad:1": { script: SLEEP },
  "bad:2": { script: `[ -e /state/fixed ] || { echo "boom: no /state/fixed"; exit 1; }; ${SLEEP}` },
  "late:1": { script: SLEEP },
  "late:2": { script: `[ "$SITE" != shop ] || { echo "boom at the shop"; exit 1; }; ${SLEEP}` },
  "away:1": { script: SLEEP },
  "away:2": { script: SLEEP },
  "slow:1": { script: SLEEP, changes: [`${HEALTH} CMD test -e /state/ready`] },
  "slow:2": { script: SLEEP, changes: [`${HEALTH} CMD test -e /state/ready`] },
  "slow:3": {
    script: `sleep 40; touch /tmp/ready; ${SLEEP}`,
    changes: [`${HEALTH} --start-period=5m CMD test -e /tmp/ready`],
  },
};

export const APPS = ["good", "bad", "late", "away", "slow"] as const;

interface Published {
  release: string;
  digest: string;
}

export async function publish(fleet: Fleet, release: string): Promise<Published> {
  const { script, changes } = RELEASES[release]!;
  return { release, digest: await fleet.publish(release, script, changes) };
}

/** Runs the first release of every application everywhere. */
export async function runFirst(fleet: Fleet): Promise<Map<string, Published>> {
  const first = new Map<string, Published>();
  for (const app of APPS) first.set(app, await publish(fleet, `${app}:1`));
  await Promise.all(fleet.members.map(async (member) => {
    // The container that does not work before its update.
    if (member.name !== "canary") await Deno.writeTextFile(`${member.state}/ready`, "");
    for (const app of APPS) await fleet.run(member, app);
  }));
  return first;
}

/** A good image reaches everyone, one wave after the other. */
export async function goodImage(fleet: Fleet, good: Published): Promise<string> {
  await reachesAll(fleet, good);
  const [first, last] = [
    fleet.startOf("canary", good.release)!,
    fleet.startOf("rest", good.release)!,
  ];
  return `on all four hosts in the order of their waves, ${seconds(last.at - first.at)}`;
}

/** An image that fails at the first host starts nowhere else. */
export async function badImage(fleet: Fleet, bad: Published): Promise<string> {
  const blockedMs = await isBlockedEverywhere(fleet, "canary", bad);
  const { log, ...block } = await blockOf(fleet, bad);
  deepEqual([block.host, block.container, block.affected], ["canary", "bad", []]);
  match(log.join("\n"), /boom: no \/state\/fixed/);
  for (const member of fleet.members.filter(({ name }) => name !== "canary")) {
    await until(`${member.name} has been refused`, () => isRefused(member, bad, /blocked/), LIMIT);
    const { status, body } = await member.longshore.call("POST", "/api/containers/bad/update", {});
    equal(status, 409, JSON.stringify(body));
    match(body.error, /blocked this image, because it failed on host canary: /);
  }
  assertStarts(fleet, bad.release, ["canary"]);
  return `rolled back there, started nowhere else; by hand 409; known to the others after ${
    milliseconds(blockedMs)
  }`;
}

/** An image fails where others run it already: they are listed, and go back. */
export async function lateFailure(
  fleet: Fleet,
  { first, late }: { first: Published; late: Published },
): Promise<string> {
  const blockedMs = await isBlockedEverywhere(fleet, "shop", late);
  assertStarts(fleet, late.release, ["canary", "home", "shop"]);
  const rest = fleet.member("rest");
  await until("rest has been refused", () => isRefused(rest, late, /blocked/), LIMIT);
  const refused = await rest.longshore.call("POST", "/api/containers/late/update", {});
  equal(refused.status, 409, JSON.stringify(refused.body));
  const body = { force: true, stableSeconds: STABLE_SECONDS };
  await succeed(rest.longshore, "/api/containers/late/update", body);
  equal(await runningDigest(rest, "late"), late.digest);

  const runners: HostName[] = ["canary", "home", "rest"];
  const { affected, host } = await until("all are listed, and can go back", async () => {
    const block = await blockOf(fleet, late);
    return block.affected.length === runners.length &&
      block.affected.every(({ canGoBack }) => canGoBack) && block;
  });
  equal(host, "shop");
  deepEqual(new Set(affected.map((each) => each.host)), new Set(runners));
  // The button of the page does this.
  await Promise.all(
    affected.map(({ hostId, container }) =>
      succeed(fleet.hub, `/api/fleet/hosts/${hostId}/api/containers/${container}/rollback`, {})
    ),
  );
  for (const member of fleet.members) {
    equal(await runningDigest(member, "late"), first.digest, member.name);
  }
  await until("no host is listed", async () => (await blockOf(fleet, late)).affected.length === 0);
  return `not in the last wave, but by hand with force; known to the others after ${
    milliseconds(blockedMs)
  }; the three hosts with it were listed and went back`;
}

/** After a person has lifted the block, the image goes on from the first wave. */
export async function liftedBlock(fleet: Fleet, bad: Published): Promise<string> {
  for (const { state } of fleet.members) await Deno.writeTextFile(`${state}/fixed`, "");
  const { id } = await blockOf(fleet, bad);
  equal((await fleet.hub.call("DELETE", `/api/fleet/blocked/${id}`)).status, 200);
  // The host that failed keeps its own block.
  const { longshore } = fleet.member("canary");
  const { blocked } = (await longshore.call("GET", "/api/updates/blocked")).body;
  const own = blocked.find((each: { containerName: string }) => each.containerName === "bad");
  equal((await longshore.call("DELETE", `/api/updates/blocked/${own.id}`)).status, 200);
  await succeed(longshore, "/api/containers/bad/update", { stableSeconds: STABLE_SECONDS });
  await reachesAll(fleet, bad);
  return "on all four hosts, in order";
}

/** A verdict that says nothing: the container did not work before either. */
export async function inconclusive(fleet: Fleet, slow: Published): Promise<string> {
  await until("the canary runs it", async () => {
    return await runningDigest(fleet.member("canary"), "slow") === slow.digest;
  }, LIMIT);
  const job = await until("its update has ended", async () => {
    const found = await lastUpdate(fleet.member("canary"), "slow");
    return found.endedAt !== null && found;
  });
  deepEqual([job.status, job.result.verdict], ["succeeded", "inconclusive"]);
  const waits = () => isRefused(fleet.member("home"), slow, /It waits for the wave .*0 of 1 hosts/);
  const before = waits();
  // Asked again after the verdict.
  await until("home waits", () => waits() > before, LIMIT);
  assertStarts(fleet, slow.release, ["canary"]);
  equal(await findBlock(fleet, slow), undefined);
  return "not blocked, and started nowhere else";
}

/** An image that takes long to become healthy proves nothing until it is. */
export async function slowImage(fleet: Fleet, slow: Published): Promise<string> {
  await reachesAll(fleet, slow, 40_000);
  equal(await findBlock(fleet, slow), undefined);
  return "each wave waited for it; on all four hosts";
}

/** The hub is killed while an image is on its way. */
export async function awayHub(fleet: Fleet, away: Published): Promise<string> {
  await until("the canary starts it", () => fleet.startOf("canary", away.release), LIMIT);
  await fleet.killHub();
  const killedAt = performance.now();
  const canary = fleet.member("canary");
  await until("it works there", async () => {
    return (await lastUpdate(canary, "away")).status === "succeeded";
  }, LIMIT);
  for (const name of ["home", "shop"] as const) {
    const waits = () => isRefused(fleet.member(name), away, /the hub .* is away/);
    await until(`${name} waits`, () => waits() > 0, LIMIT);
  }
  const rest = fleet.member("rest");
  await succeed(rest.longshore, "/api/containers/away/update", { stableSeconds: STABLE_SECONDS });
  equal(await runningDigest(rest, "away"), away.digest);
  assertStarts(fleet, away.release, ["canary", "rest"]);
  const awayMs = performance.now() - killedAt;
  await fleet.startHub();
  await until("all run it", () => runsEverywhere(fleet, away), LIMIT);
  assertOrder(fleet, away.release, ["canary", "home", "shop"], STABLE_SECONDS * 1000);
  return `the next waves waited for ${seconds(awayMs)}, an update by hand did not; then in order`;
}

/** Every engine runs the image, and none has started it before the wave before has proved it. */
async function reachesAll(
  fleet: Fleet,
  published: Published,
  leastMs = STABLE_SECONDS * 1000,
): Promise<void> {
  await until(`all run ${published.release}`, () => runsEverywhere(fleet, published), LIMIT);
  assertOrder(fleet, published.release, HOSTS, leastMs);
}

async function runsEverywhere(fleet: Fleet, { release, digest }: Published): Promise<boolean> {
  if (!HOSTS.every((name) => fleet.startOf(name, release))) return false;
  const [app = ""] = release.split(":");
  for (const member of fleet.members) {
    if (await runningDigest(member, app) !== digest) return false;
    if ((await lastUpdate(member, app)).endedAt === null) return false;
  }
  return true;
}

/** Each host starts the release when the one before has run it for long enough. */
function assertOrder(
  fleet: Fleet,
  release: string,
  hosts: readonly HostName[],
  leastMs: number,
): void {
  // The first start may have failed.
  const times = hosts.map((name) =>
    fleet.starts.findLast((each) => each.host === name && each.release === release)!.at
  );
  for (const [at, name] of hosts.entries()) {
    if (at === 0) continue;
    const laterMs = times[at]! - times[at - 1]!;
    ok(laterMs >= leastMs, `${name} started ${release} ${laterMs} ms after ${hosts[at - 1]}`);
  }
}

/** The engines have started the release on these hosts only. */
function assertStarts(fleet: Fleet, release: string, hosts: readonly HostName[]): void {
  const found = fleet.starts.filter((each) => each.release === release);
  deepEqual(new Set(found.map(({ host }) => host)), new Set(hosts), release);
}

/**
 * Waits until a release is rolled back on a host and all others know its block.
 *
 * @returns Time from the verdict to the last one that knows it, in milliseconds.
 */
async function isBlockedEverywhere(
  fleet: Fleet,
  paidBy: HostName,
  { release, digest }: Published,
): Promise<number> {
  const [app = ""] = release.split(":");
  await until(`${paidBy} starts ${release}`, () => fleet.startOf(paidBy, release), LIMIT);
  const job = await until(`${release} is rolled back`, async () => {
    const found = await lastUpdate(fleet.member(paidBy), app);
    return found.status === "rolled_back" && found;
  });
  const judgedAt = Date.parse(job.steps.find(({ name }) => name === "roll_back")!.endedAt!);
  const others = fleet.members.filter(({ name }) => name !== paidBy);
  const knownAt = await Promise.all(others.map(async (member) => {
    const isBlock = (line: { message: string; digest?: string }) =>
      line.message === "image blocked by the hub" && line.digest === digest;
    const line = await until(`${member.name} knows it`, () => logLines(member, isBlock)[0]);
    return Date.parse(line.time);
  }));
  const tookMs = Math.max(...knownAt) - judgedAt;
  ok(tookMs <= BLOCK_MAX_MS, `${release} was blocked after ${tookMs} ms`);
  return tookMs;
}

/** How often an automatic update of a member has been refused for a reason. */
function isRefused(member: Member, { digest }: Published, reason: RegExp): number {
  return logLines(
    member,
    (line) =>
      line.message === "automatic update waits" && line.digest === digest &&
      reason.test(line.reason ?? ""),
  ).length;
}

interface FoundBlock {
  id: string;
  digest: string;
  host: string;
  container: string;
  log: string[];
  affected: { hostId: string; host: string; container: string; canGoBack: boolean }[];
}

async function findBlock(fleet: Fleet, { digest }: Published): Promise<FoundBlock | undefined> {
  const { blocked } = (await fleet.hub.call("GET", "/api/fleet/blocked")).body;
  return blocked.find((each: FoundBlock) => each.digest === digest);
}

async function blockOf(fleet: Fleet, published: Published): Promise<FoundBlock> {
  const found = await findBlock(fleet, published);
  ok(found, `${published.release} is blocked`);
  return found;
}

interface UpdateJob {
  status: string;
  endedAt: string | null;
  steps: { name: string; endedAt: string | null }[];
  result: { verdict: string };
}

/** The last update of a container on a member. */
async function lastUpdate({ longshore }: Member, container: string): Promise<UpdateJob> {
  const query = `kind=container.update&target=${container}&limit=1`;
  const { jobs: [job] } = (await longshore.call("GET", `/api/jobs?${query}`)).body;
  ok(job, `${container} has been updated`);
  return job;
}

const seconds = (ms: number) => `${Math.round(ms / 1000)} s`;
const milliseconds = (ms: number) => `${Math.round(ms)} ms`;
