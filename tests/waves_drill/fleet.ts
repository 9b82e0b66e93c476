/**
 * A fleet of real parts: a registry, a hub, and members with an engine of their own. Their engines are
 * in namespaces that are connected, so that each one pulls from the registry.
 *
 * @module
 */

import { equal, ok } from "node:assert/strict";
import { join } from "node:path";
import { connectEngines } from "../helpers/engine_network.ts";
import { joinFleet } from "../helpers/joined_host.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { BUSYBOX, type OwnEngine, startDockerd } from "../helpers/real_engine.ts";
import { startRegistry } from "../helpers/registry.ts";
import { until } from "../helpers/until.ts";

/** Hosts in the order of their waves; the last one has no label, so that it comes after them. */
export const HOSTS = ["canary", "home", "shop", "rest"] as const;
export type HostName = typeof HOSTS[number];

/** Time that a new container without a health check has to run. */
export const STABLE_SECONDS = 5;

/** Label of images, which the engine reports with each start of a container. */
const RELEASE_LABEL = "drill.release";

/** A longer limit than that of `until()`: updaters begin ten minutes after their engine is reachable. */
export const LIMIT = { deadlineMs: 30 * 60_000 };

/** Ends at once when it is stopped. */
export const SLEEP = "trap 'exit 0' TERM; sleep 2147483647 & wait";

/** A container that an engine has started, as its own events say. */
export interface Start {
  host: HostName;
  container: string;
  /** E.g. `good:2`. */
  release: string;
  /** Unix milliseconds. */
  at: number;
}

export interface Member {
  name: HostName;
  longshore: Longshore;
  engine: OwnEngine;
  /** Directory that its containers have as `/state`. */
  state: string;
}

/** A line of the log of Longshore. */
export interface LogLine {
  time: string;
  message: string;
  container?: string;
  digest?: string;
  reason?: string;
}

export type Fleet = Awaited<ReturnType<typeof openFleet>>;

export async function openFleet() {
  await using stack = new AsyncDisposableStack();
  const args = ["--insecure-registry=10.77.0.0/24"];
  const start = async () => stack.use(await startDockerd({ args }));
  const [builder, ...engines] = await Promise.all([start(), ...HOSTS.map(start)]);
  const [address] = await connectEngines([builder, ...engines]);
  const registry = stack.use(await startRegistry(builder, { host: address! }));
  const folder = await Deno.makeTempDir({ prefix: "longshore-waves-drill-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));

  const starts: Start[] = [];
  const hubOptions = {
    dataDir: join(folder, "hub"),
    engineSocket: builder.socketPath,
    env: {
      FLEET_INSECURE: "on",
      SERVER_NAME: "hub",
      PORT: String(40_000 + Math.floor(Math.random() * 9_000)),
      API_KEY: crypto.randomUUID(),
    },
  };
  let hub = await startLongshore(hubOptions);
  stack.defer(() => hub.kill9());
  const members: Member[] = [];
  for (const [at, name] of HOSTS.entries()) {
    const engine = engines[at]!;
    const longshore = await startLongshore({
      dataDir: join(folder, name),
      engineSocket: engine.socketPath,
      env: { FLEET_INSECURE: "on", SERVER_NAME: name, LOG_LEVEL: "debug" },
    });
    stack.use(longshore);
    stack.use(recordStarts(engine, name, starts));
    const state = join(folder, `state-${name}`);
    await Deno.mkdir(state);
    members.push({ name, longshore, engine, state });
  }
  for (const { name, longshore } of members) {
    const labels: Record<string, string> = name === "rest" ? {} : { wave: name };
    await joinFleet(hub, longshore, { name, labels });
  }

  const all = stack.move();
  return {
    members,
    starts,
    get hub(): Longshore {
      return hub;
    },
    killHub: () => hub.kill9(),
    async startHub(): Promise<void> {
      hub = await startLongshore(hubOptions);
    },
    member: (name: HostName): Member => members.find((each) => each.name === name)!,
    /**
     * Publishes an image as `<app>:latest`.
     *
     * @param release E.g. `good:2`, of the application `good`.
     * @param changes As of `docker commit --change`.
     * @returns Its digest.
     */
    async publish(release: string, script: string, changes: string[] = []): Promise<string> {
      const reference = referenceOf(release.split(":")[0]!);
      const container = await builder.docker("create", BUSYBOX);
      const all = [`CMD ${JSON.stringify(["sh", "-c", script])}`, ...changes];
      const image = await builder.docker(
        "commit",
        ...[...all, `LABEL ${RELEASE_LABEL}=${release}`].map((change) => `--change=${change}`),
        container,
        reference,
      );
      await builder.docker("rm", container);
      await builder.docker("push", reference);
      return await digestOf(builder, image);
    },
    /** Runs an application on a member; its containers know where they are by `SITE`. */
    async run({ engine, name, state }: Member, app: string): Promise<void> {
      await engine.docker("pull", referenceOf(app));
      await engine.docker(
        ...["run", "--detach", `--name=${app}`, "--network=host", "--restart=unless-stopped"],
        ...["--stop-timeout=1", `--env=SITE=${name}`, `--volume=${state}:/state:ro`],
        referenceOf(app),
      );
    },
    /** Lets the members ask the registry, through the hub or, while that is away, each by itself. */
    async check({ isHubAway = false } = {}): Promise<void> {
      if (!isHubAway) {
        const body = { action: "update-check", hosts: [...HOSTS], options: {} };
        return void await succeed(hub, "/api/fleet/run", body);
      }
      for (const { longshore } of members) await succeed(longshore, "/api/updates/check", {});
    },
    /** The first start of a release on a host; `undefined` before. */
    startOf: (host: HostName, release: string): Start | undefined =>
      starts.find((each) => each.host === host && each.release === release),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };

  function referenceOf(app: string): string {
    return `${registry.address}/${app}:latest`;
  }
}

/** Follows the events of an engine. */
function recordStarts(engine: OwnEngine, host: HostName, starts: Start[]): AsyncDisposable {
  const filters = ["--filter=type=container", "--filter=event=start", "--format={{json .}}"];
  const child = new Deno.Command("docker", {
    args: [`--host=unix://${engine.socketPath}`, "events", ...filters],
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream());
  const follow = async () => {
    let rest = "";
    for await (const piece of lines) {
      const [...complete] = (rest + piece).split("\n");
      rest = complete.pop()!;
      for (const line of complete) {
        const { Actor: { Attributes }, timeNano } = JSON.parse(line);
        const { name: container, [RELEASE_LABEL]: release } = Attributes;
        starts.push({ host, container, release, at: timeNano / 1e6 });
      }
    }
  };
  const ended = follow();
  return {
    async [Symbol.asyncDispose]() {
      child.kill();
      await child.status;
      await ended;
    },
  };
}

/** Digest in the registry of an image that an engine has. @param image Its id. */
export async function digestOf(engine: OwnEngine, image: string): Promise<string> {
  const format = "--format={{range .RepoDigests}}{{.}} {{end}}";
  const digests = await engine.docker("image", "inspect", format, image);
  return digests.trim().split("@")[1]!;
}

/** Digest of the image that a container runs, as its engine says. */
export async function runningDigest({ engine }: Member, container: string): Promise<string> {
  const inspected = await engine.docker("inspect", container);
  const [{ Image, State }] = JSON.parse(inspected);
  ok(State.Running, `${container} runs`);
  return await digestOf(engine, Image);
}

/** Starts a job and waits until it has succeeded. @param path At the server or at one of its hosts. */
export async function succeed(at: Longshore, path: string, body: object): Promise<void> {
  const { status, body: job } = await at.call("POST", path, body);
  equal(status, 202, JSON.stringify(job));
  const [, host = ""] = /^(\/api\/fleet\/hosts\/[^/]+)\/api\//.exec(path) ?? [];
  const view = async () => (await at.call("GET", `${host}/api/jobs/${job.id}`)).body;
  const ended = await until(`${path} has ended`, async () => {
    const { endedAt, ...rest } = await view();
    return endedAt !== null && rest;
  }, LIMIT);
  equal(ended.status, "succeeded", JSON.stringify(ended));
}

/** The lines of a member's log that match. */
export const logLines = (
  { longshore }: Member,
  matches: (line: LogLine) => boolean,
): LogLine[] =>
  `${longshore.stdout()}\n${longshore.stderr()}`.split("\n")
    .flatMap((line): LogLine[] => {
      try {
        return [JSON.parse(line)];
      } catch {
        // The first line may be cut.
        return [];
      }
    }).filter(matches);
