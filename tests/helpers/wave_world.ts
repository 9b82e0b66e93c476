/**
 * A fleet whose images, partitions and restores are random: the hub and the members are the real code,
 * links and containers are not. What the hub must know is computed from what happened, not from its
 * tables.
 *
 * @module
 */

import { equal, ok } from "node:assert/strict";
import { openTestDatabase, type TestApp, testApp } from "./test_app.ts";
import { insertFleetHost } from "../../db/fleet_hosts.ts";
import { replaceMembership, selectMembership } from "../../db/fleet_membership.ts";
import { emptyCopy } from "../../services/fleet/copies/copy.ts";
import { noteKeys } from "../../services/fleet/enrolment/keys.ts";
import { createFleet, type OpenHost } from "../../services/fleet/hosts/fleet.ts";
import { type Control, decodeControl, encodeControl } from "../../services/fleet/link/control.ts";
import type { OpenLink } from "../../services/fleet/link/open_link.ts";
import { createUpdateGate } from "../../services/fleet/waves/gate.ts";
import {
  confirmReport,
  keepWaves,
  liftBlock,
  receiveReport,
} from "../../services/fleet/waves/hub.ts";
import { offerBlocks, receiveFromHost } from "../../services/fleet/waves/hub_link.ts";
import { newWaveLink } from "../../services/fleet/waves/exchange.ts";
import { keptBlocks } from "../../services/fleet/waves/kept.ts";
import { createReceiver } from "../../services/fleet/waves/member_link.ts";
import type { Report } from "../../services/fleet/waves/report.ts";
import { changeWaveSettings } from "../../services/fleet/waves/settings.ts";
import { silentLog } from "../../services/log.ts";

const HOUR_MS = 3_600_000;
const WAVES = ["wave=canary", "wave=home", "wave=shop"];
const PLATFORMS = ["linux/amd64", "linux/arm64"];
const REPOSITORIES = ["shop", "db", "mail"];

/** How an image behaves on a platform. `slow` takes hours until its verdict. */
type Quality = "good" | "slow" | "bad";

interface Image {
  repository: string;
  digest: string;
  quality: Record<string, Quality>;
}

interface Job {
  image: Image;
  /** When its image is pulled, and when its verdict is known. */
  startsAt: number;
  endsAt: number | undefined;
}

/** A block of an image, or its end, by the time. */
interface Fact {
  at: number;
  /** Grows with each fact. */
  order: number;
  isBlocked: boolean;
  /** Failures that a person knew who lifted it. */
  lifted: ReadonlySet<string>;
}

interface Member {
  id: string;
  wave: number;
  platform: string;
  db: ReturnType<typeof openTestDatabase>;
  fleet: ReturnType<typeof createFleet>;
  gate: ReturnType<typeof createUpdateGate>;
  /** Runs on it, by repository. */
  runs: Map<string, string>;
  verdicts: Report["verdicts"];
  failed: Set<string>;
  job: Job | undefined;
  open: OpenHost | undefined;
  /** Facts that it must know. */
  facts: Map<string, Fact>;
}

interface Known {
  facts: Map<string, Fact>;
  failures: Set<string>;
}

export interface Outcome {
  starts: number;
  blocked: number;
  restores: number;
  reached: number;
}

export class WaveWorld {
  readonly app: TestApp = testApp({ now: "2026-01-01T00:00:00Z" });
  readonly members: Member[];
  readonly latest = new Map<string, Image>();
  readonly outcome: Outcome = { starts: 0, blocked: 0, restores: 0, reached: 0 };
  #known: Known = { facts: new Map(), failures: new Set() };
  #backup: { known: Known; blocks: unknown[]; verdicts: unknown[] } | undefined;
  /** Times of successes by image and host. */
  #successes = new Map<string, Map<string, number>>();
  #images = 0;
  #facts = 0;
  readonly #settings: { hosts: number; soakHours: number };

  private constructor(readonly random: () => number, count: number, isOrdered: boolean) {
    const { db } = this.app.deps;
    this.#settings = isOrdered
      ? { hosts: 1, soakHours: 24 }
      : { hosts: 1 + this.#below(2), soakHours: this.#pick([0, 1, 24]) };
    changeWaveSettings(this.app.deps, { waves: WAVES, ...this.#settings });
    this.members = Array.from({ length: count }, (_, at) => this.#member(at));
    if (isOrdered) { for (const [at, member] of this.members.entries()) member.wave = at; }
    for (const { id, wave } of this.members) {
      insertFleetHost(db, {
        ...{
          id,
          name: id,
          linkKey: id.padEnd(44, "A"),
          noteKey: "",
          machine: "",
          version: "1",
          address: "",
        },
        labels: wave < WAVES.length ? { wave: WAVES[wave]!.split("=")[1]! } : {},
        ...{
          inviteId: null,
          dialAddress: null,
          isPending: false,
          challenge: 0,
          joinedAt: this.app.clock.now().toISOString(),
          lastSeenAt: null,
        },
        ...{ isConnected: false, isReportedAway: false, leftAt: null },
      });
    }
    this.app.deps.fleet.refresh();
  }

  /** @param isOrdered Whether each member is in a wave of its own. */
  static async create(
    random: () => number,
    count: number,
    isOrdered = false,
  ): Promise<WaveWorld> {
    const world = new WaveWorld(random, count, isOrdered);
    const { publicKey } = await noteKeys(world.app.deps);
    for (const member of world.members) {
      replaceMembership(member.db, {
        ...{ address: "", hubKey: "", hubNoteKey: publicKey, hubName: "hub", hostId: member.id },
        ...{ name: member.id, isPending: false, challenge: null, challengeProof: null },
        ...{ joinedAt: "", asksHub: false, hubTakesEvents: false, labels: {} },
      });
      member.fleet.refresh();
      await world.connect(member);
    }
    for (const repository of REPOSITORIES) world.publish(repository, "good");
    for (const member of world.members) {
      for (const name of member.runs.keys()) {
        member.runs.set(name, world.latest.get(name)!.digest);
      }
      await world.report(member);
    }
    return world;
  }

  #member(at: number): Member {
    const db = openTestDatabase();
    const fleet = createFleet(db);
    const used = REPOSITORIES.filter(() => this.random() < 0.7);
    return {
      ...{ id: `host-${at}`, db, fleet, gate: createUpdateGate({ db, fleet }) },
      wave: this.#below(WAVES.length + 1),
      platform: this.random() < 0.7 ? PLATFORMS[0]! : PLATFORMS[1]!,
      runs: new Map(used.map((name) => [name, ""])),
      ...{ verdicts: [], failed: new Set<string>(), job: undefined, open: undefined },
      facts: new Map(),
    };
  }

  get #now(): number {
    return this.app.clock.now().getTime();
  }
  #below(max: number): number {
    return Math.floor(this.random() * max);
  }
  #pick<T>(choices: readonly T[]): T {
    return choices[this.#below(choices.length)]!;
  }

  /** A new image of a repository, which may fail on one platform only. */
  publish(repository: string, quality?: Quality): void {
    const digest = `sha256:${(++this.#images).toString(16).padStart(64, "0")}`;
    const any = () => quality ?? this.#pick<Quality>(["good", "good", "slow", "bad"]);
    const ofPlatforms = PLATFORMS.map((platform) => [platform, any()]);
    this.latest.set(repository, { repository, digest, quality: Object.fromEntries(ofPlatforms) });
  }

  /** Opens the link of a member, over which both sides tell what the other does not know. */
  async connect(member: Member): Promise<void> {
    if (member.open) return;
    const { deps } = this.app;
    const pass = (message: Control, to: (message: Control) => void) => {
      if (member.open === open) to(decodeControl(encodeControl(message))!);
    };
    const receive = createReceiver(
      { changes: deps.changes, db: member.db, fleet: member.fleet, log: silentLog },
      selectMembership(member.db)!,
    );
    const near = {
      tell: (message: Control) =>
        pass(
          message,
          (given) =>
            receiveFromHost(deps, { id: member.id, open, message: given as Control<"ask"> }),
        ),
    } as OpenLink;
    const far = {
      ...{ silentMs: 0, clock: { offset: 0, roundTrip: 0 } },
      tell: (message: Control) => pass(message, (given) => receive(given, near)),
    } as OpenLink;
    const open: OpenHost = { link: far, address: "", isPending: false, waves: newWaveLink() };
    member.open = open;
    member.fleet.hub.link = near;
    deps.fleet.hosts.set(member.id, open);
    offerBlocks(deps, open);
    await soon("both sides agree", () => open.waves.isSynced);
    this.#exchange(member);
    await this.report(member);
  }

  /** Waits until each connected member has processed what the hub has told: within the 5 seconds. */
  async agree(): Promise<void> {
    const numbersOf = (...given: Parameters<typeof keptBlocks>) =>
      keptBlocks(...given).map(({ number }) => number).join();
    const own = numbersOf(this.app.deps, "own");
    for (const { db, open, id } of this.members) {
      if (open) await soon(`${id} knows`, () => numbersOf({ db }, "hub") === own);
    }
  }

  /** The later fact about each image wins, wherever it is known. */
  #exchange(member: Member): void {
    for (const [key, fact] of member.facts) this.#learn(key, fact);
    for (const [key, fact] of this.#known.facts) this.#tell(member, key, fact);
  }
  #fact(fact: Pick<Fact, "isBlocked" | "lifted">): Fact {
    return { ...fact, at: this.#now, order: ++this.#facts };
  }
  #learn(key: string, fact: Fact): void {
    if (fact.order <= (this.#known.facts.get(key)?.order ?? -1)) return;
    this.#known.facts.set(key, fact);
    for (const id of fact.lifted) this.#known.failures.add(id);
    for (const member of this.members) if (member.open) this.#tell(member, key, fact);
  }
  #tell(member: Member, key: string, fact: Fact): void {
    if (fact.order > (member.facts.get(key)?.order ?? -1)) member.facts.set(key, fact);
  }

  disconnect(member: Member): void {
    member.open = undefined;
    member.fleet.hub.link = undefined;
    this.app.deps.fleet.hosts.delete(member.id);
  }

  /** The feed of a member. */
  async report(member: Member): Promise<void> {
    if (!member.open) return;
    const { id, platform, runs } = member;
    const { fleet } = this.app.deps;
    const copy = emptyCopy();
    copy.asOf.containers = this.app.clock.now().toISOString();
    copy.lists.containers = new Map([...runs.keys()].map((name) => [name, {
      ...{ id: name, name, image: `registry.test/${name}:1`, state: "running", health: null },
      ...{ stack: null, createdAt: null, startedAt: null, crashLooping: false, self: false },
      replaced: false,
    }]));
    fleet.copies.set(id, copy);
    const verdicts = member.verdicts.map((each) => ({
      ...each,
      state: runs.get(each.container) === each.digest ? "well" : "gone",
    }));
    for (const { id, digest, outcome } of verdicts) {
      if (outcome === "success" || this.#known.failures.has(id)) continue;
      this.#known.failures.add(id);
      const key = `${digest} ${platform}`;
      if (this.#known.facts.get(key)?.isBlocked) continue;
      this.#learn(key, this.#fact({ isBlocked: true, lifted: new Set() }));
      this.outcome.blocked++;
    }
    await receiveReport(this.app.deps, id, JSON.stringify({ platform, verdicts, affected: [] }));
    await this.agree();
  }

  /** Lets each member do what is due: pull, start and judge images. */
  async update(): Promise<void> {
    this.#confirm();
    for (const member of this.members) {
      if (member.job) await this.#continue(member, member.job);
      else await this.#begin(member);
    }
    await keepWaves(this.app.deps);
  }

  /** Lets a member judge an image, as if it had run it. */
  async judge(member: Member, image: Image): Promise<void> {
    this.#judge(member, image, image.quality[member.platform]!);
    await this.report(member);
  }

  async #begin(member: Member): Promise<void> {
    for (const [repository, digest] of member.runs) {
      const image = this.latest.get(repository)!;
      if (image.digest === digest || member.failed.has(image.digest)) continue;
      if (await this.#refusal(member, image) !== undefined) continue;
      member.job = { image, startsAt: this.#now + this.#below(60_000), endsAt: undefined };
      return;
    }
  }

  /** The answer of a member's gate about the newest image of a repository. */
  refusal(member: Member, repository: string): Promise<string | undefined> {
    this.#confirm();
    return this.#refusal(member, this.latest.get(repository)!);
  }

  /** The feeds of the members say that nothing has changed. */
  #confirm(): void {
    for (const { id, open } of this.members) if (open) confirmReport(this.app.deps, id);
  }

  #refusal({ gate, platform }: Member, { digest, repository }: Image) {
    return gate.refusalOf({ digest, platform, image: `registry.test/${repository}:1` });
  }

  async #continue(member: Member, job: Job): Promise<void> {
    const { image } = job;
    const quality = image.quality[member.platform]!;
    if (job.endsAt === undefined) {
      if (this.#now < job.startsAt) return;
      member.job = undefined;
      if (await this.#refusal(member, image) !== undefined) return;
      this.#assertMayStart(member, image);
      const tookMs = quality === "slow" ? 5 * HOUR_MS : this.#below(120_000);
      member.job = { ...job, endsAt: this.#now + tookMs };
    } else if (this.#now >= job.endsAt) {
      member.job = undefined;
      this.#judge(member, image, quality);
      await this.report(member);
    }
  }

  #judge(member: Member, { digest, repository }: Image, quality: Quality): void {
    const outcome = quality === "bad" ? "failure" : "success";
    const verdict = { outcome, digest, platform: member.platform, container: repository } as const;
    const id = `${member.id} ${digest.slice(-6)} ${this.#now}`;
    const image = `registry.test/${repository}:1`;
    const reason = `${repository} ${outcome}`;
    member.verdicts = [
      { ...verdict, id, image, reason, log: ["boom"], state: "well" as const },
      ...member.verdicts.filter((each) => each.digest !== digest),
    ].slice(0, 100);
    if (outcome === "failure") member.failed.add(digest);
    else {
      member.runs.set(repository, digest);
      const times = this.#successes.getOrInsertComputed(
        `${digest} ${member.platform}`,
        () => new Map(),
      );
      times.set(member.id, this.#now);
    }
  }

  /** The promise: neither a failure that the hub has known for 5 seconds, nor a wave that is skipped. */
  #assertMayStart(member: Member, image: Image): void {
    this.outcome.starts++;
    const key = `${image.digest} ${member.platform}`;
    const fact = this.#known.facts.get(key);
    ok(!fact?.isBlocked || this.#now - fact.at < 5_000, `${member.id} starts a blocked image`);
    ok(!member.facts.get(key)?.isBlocked, `${member.id} knows that the image is blocked`);
    const before = this.#usersBefore(member, image.repository);
    const times = this.#successes.get(key);
    const soakMs = this.#settings.soakHours * HOUR_MS;
    const proofs = before.filter(({ id }) => this.#now - (times?.get(id) ?? Infinity) >= soakMs);
    const required = Math.min(this.#settings.hosts, before.length);
    ok(proofs.length >= required, `${member.id} starts an image that its wave has not reached`);
  }

  /** Members of the nearest earlier wave that has users of a repository on the platform. */
  #usersBefore({ wave, platform }: Member, repository: string): Member[] {
    const users = this.members.filter((each) =>
      each.platform === platform && each.runs.has(repository) && each.wave < wave
    );
    const nearest = Math.max(...users.map((each) => each.wave));
    return users.filter((each) => each.wave === nearest);
  }

  backUp(): void {
    const { db } = this.app.deps;
    this.#backup = {
      known: { facts: new Map(this.#known.facts), failures: new Set(this.#known.failures) },
      blocks: db.all("SELECT * FROM fleet_blocks"),
      verdicts: db.all("SELECT * FROM fleet_verdicts"),
    };
  }

  /** The hub starts again, from yesterday's data if it is restored. */
  async restart(
    { isRestored, connects = () => this.random() < 0.8 }: {
      isRestored: boolean;
      connects?: (member: Member) => boolean;
    },
  ): Promise<void> {
    const { deps } = this.app;
    for (const member of this.members) this.disconnect(member);
    deps.fleet.copies.clear();
    deps.fleet.reports.clear();
    deps.startedAt = this.app.clock.now();
    if (isRestored && this.#backup) {
      const { known, blocks, verdicts } = this.#backup;
      this.outcome.restores++;
      this.#known = { facts: new Map(known.facts), failures: new Set(known.failures) };
      for (
        const [table, rows] of Object.entries({ fleet_blocks: blocks, fleet_verdicts: verdicts })
      ) {
        deps.db.run(`DELETE FROM ${table}`);
        for (const row of rows as Record<string, string>[]) {
          const names = Object.keys(row);
          const values = names.map((name) => `:${name}`).join();
          deps.db.run(`INSERT INTO ${table} (${names.join()}) VALUES (${values})`, row);
        }
      }
    }
    for (const member of this.members) if (connects(member)) await this.connect(member);
  }

  /** A person allows an image again. */
  async lift(): Promise<void> {
    const blocked = [...this.#known.facts].filter(([, fact]) => fact.isBlocked);
    if (blocked.length === 0) return;
    const [key] = this.#pick(blocked);
    const [digest = "", platform = ""] = key.split(" ");
    await liftBlock(this.app.deps, { digest, platform }, "Ada");
    await this.agree();
    const lifted = new Set(this.#known.failures);
    this.#learn(key, this.#fact({ isBlocked: false, lifted }));
  }

  /** Without further trouble, every good image reaches everyone. */
  async settle(): Promise<void> {
    for (const repository of REPOSITORIES) this.publish(repository, "good");
    for (const member of this.members) await this.connect(member);
    for (let round = 0; round < 40 && !this.#isDone(); round++) {
      this.app.clock.advance({ minutes: 6 * 60 });
      await this.update();
    }
    for (const { id, runs } of this.members) {
      for (const [name, digest] of runs) {
        equal(digest, this.latest.get(name)!.digest, `${id} has the newest ${name}`);
        this.outcome.reached++;
      }
    }
  }
  #isDone(): boolean {
    return this.members.every(({ runs }) =>
      [...runs].every(([name, digest]) => digest === this.latest.get(name)!.digest)
    );
  }

  [Symbol.dispose](): void {
    for (const { db } of this.members) db.close();
    this.app[Symbol.dispose]();
  }
}

/** Waits for what takes a few turns of the event loop. */
async function soon(what: string, condition: () => boolean): Promise<void> {
  for (let turns = 0; !condition(); turns++) {
    ok(turns < 100_000, what);
    await new Promise((resolve) => setTimeout(resolve));
  }
}

/** Four members, one in each wave and one behind them, which all use all images on one platform. */
export const smallWorld = (): Promise<WaveWorld> => WaveWorld.create(() => 0.5, 4, true);

/** Lives through a random history of so many steps, and checks the promise at each start. */
export async function liveThrough(
  random: () => number,
  { members, steps }: { members: number; steps: number },
): Promise<Outcome> {
  using world = await WaveWorld.create(random, members);
  const any = <T>(choices: readonly T[]) => choices[Math.floor(random() * choices.length)]!;
  for (let step = 0; step < steps; step++) {
    const event = random();
    const member = any(world.members);
    if (event < 0.2) world.publish(any(REPOSITORIES));
    else if (event < 0.35) world.disconnect(member);
    else if (event < 0.6) await world.connect(member);
    // A member that was killed begins its update again.
    else if (event < 0.65) member.job = undefined;
    else if (event < 0.7) world.backUp();
    else if (event < 0.75) await world.restart({ isRestored: random() < 0.5 });
    else if (event < 0.8) await world.lift();
    world.app.clock.advance({ seconds: any([1, 10, 300, 3_600, 8 * 3_600]) });
    await world.update();
  }
  await world.settle();
  return world.outcome;
}
