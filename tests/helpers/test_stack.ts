/** A stack on a real engine. @module */

import { equal, ok } from "node:assert/strict";
import { connectEngine } from "../../engine/client.ts";
import { type ContainerInspect, containerInspect, containerList } from "../../engine/containers.ts";
import { systemInfo } from "../../engine/system.ts";
import type { LiveApp } from "./live_app.ts";
import { BUSYBOX, type RealEngine } from "./real_engine.ts";
import { until } from "./until.ts";

/** A stack of its own name, which is removed in the end. */
export interface TestStack extends AsyncDisposable {
  name: string;
  /** Stores the next version of the sources. */
  store(source: object, more?: object): Promise<void>;
  deploy(options?: object): Promise<EndedJob>;
  down(options?: object): Promise<EndedJob>;
  plan(options?: object): Promise<{ changes: { kind: string; name: string; action: string }[] }>;
  /** By name without the stack, e.g. `web-1`. */
  containers(): Promise<Record<string, ContainerInspect>>;
  /**
   * Changes of the stack by the engine since the call, as its events say, e.g. `container start`.
   */
  watch(): Promise<() => Promise<string[]>>;
}

export interface EndedJob {
  status: string;
  error: string | null;
  // deno-lint-ignore no-explicit-any
  result: any;
  steps: { name: string; status: string }[];
}

export function testStack(app: LiveApp, real: RealEngine): TestStack {
  const engine = connectEngine(real.socketPath);
  const stack = apiStack(app, engine);
  return {
    ...stack,
    async watch() {
      const at = async () => (await systemInfo(engine)).SystemTime!;
      const since = await at();
      return async () => {
        const format = "{{.Type}} {{.Action}} {{json .Actor}}";
        const events = await real.docker(
          "events",
          `--since=${since}`,
          `--until=${await at()}`,
          `--format=${format}`,
        );
        const ids = Object.values(await stack.containers()).map(({ Id }) => Id);
        return events.split("\n").filter((event) =>
          [stack.name, ...ids].some((part) => event.includes(part)) &&
          !/^container (?:exec_|health_status)/.test(event)
        ).map((event) => event.split(" ", 2).join(" "));
      };
    },
    async [Symbol.asyncDispose]() {
      await stack[Symbol.asyncDispose]();
      engine.close();
    },
  };
}

/** A stack on any engine, also one that is not real. */
export function apiStack(
  app: LiveApp,
  engine: LiveApp["deps"]["engine"] = app.deps.engine,
): Omit<TestStack, "watch"> {
  // Verification takes time.
  app.deps.now = () => new Date();
  const name = `s${crypto.randomUUID().slice(0, 8)}`;
  const path = `/api/stacks/${name}`;
  let version = 0;
  const runJob = async (action: string, options: object): Promise<EndedJob> => {
    const { status, body } = await app.call("POST", `${path}/${action}`, options);
    equal(status, 202, JSON.stringify(body));
    return await ended(app, body.id);
  };
  const stack: Omit<TestStack, "watch"> = {
    name,
    async store(source, more = {}) {
      const compose = JSON.stringify(source);
      const { status, body } = version === 0
        ? await app.call("POST", "/api/stacks", { name, compose, deploy: false, ...more })
        : await app.call("PUT", `${path}/source`, { compose, expectedVersion: version, ...more });
      ok(status < 300, JSON.stringify(body));
      version = body.version;
    },
    deploy: (options = {}) => runJob("deploy", { stableSeconds: 1, ...options }),
    down: (options = { volumes: true }) => runJob("down", options),
    async plan(options = {}) {
      const { status, body } = await app.call("POST", `${path}/plan`, options);
      equal(status, 200, JSON.stringify(body));
      return body;
    },
    async containers() {
      const filters = { label: [`com.docker.compose.project=${name}`] };
      const listed = await containerList(engine, { all: true, filters });
      const inspects = await Promise.all(listed.map(({ Id }) => containerInspect(engine, Id)));
      return Object.fromEntries(
        inspects.map((each) => [each.Name.slice(name.length + 2), each]),
      );
    },
    async [Symbol.asyncDispose]() {
      const { status } = await app.call("GET", path);
      if (status !== 404) await stack.down();
    },
  };
  return stack;
}

export async function ended(app: Pick<LiveApp, "call">, id: string): Promise<EndedJob> {
  return await until(`job ${id} has ended`, async () => {
    const { body } = await app.call("GET", `/api/jobs/${id}`);
    return body.endedAt !== null && body;
  }, { deadlineMs: 180_000 });
}

/** E.g. `service web create`. */
export const actionsOf = (
  { changes }: { changes: { kind: string; name: string; action: string }[] },
) => changes.map(({ kind, name, action }) => `${kind} ${name} ${action}`);

/** A service that runs until it is stopped, and then ends at once. */
export const networked = { image: BUSYBOX, command: "sleep 1000", stop_signal: "SIGKILL" };

/** The same where networks do not matter: one of its own doubles the processor time of a start. */
export const sleeper = { ...networked, network_mode: "host" };

/** Longer than a test: what fails cannot pass for stable on a slow machine. */
export const NEVER_STABLE = { stableSeconds: 3_600 };
