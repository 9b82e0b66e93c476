/** A hub and a member of two versions as real programs, and what can be done to them. @module */

import { equal } from "node:assert/strict";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { plantedSecrets } from "../acceptance/planted_secrets.ts";
import { engineOf } from "../acceptance/planted_service.ts";
import { idOf } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { fakeReceiver } from "../helpers/fake_receiver.ts";
import { freePort } from "../helpers/free_port.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { runtimeEnvironment } from "../helpers/program.ts";
import { until } from "../helpers/until.ts";
import type { Version } from "./build.ts";

/** Longest wait for an answer, in milliseconds: nothing may hang, but a machine may be busy. */
const ANSWER_MS = 120_000;

/** Longest wait for a link: a member dials after up to 30 seconds, also when a dial has failed. */
const LINK = { deadlineMs: 300_000 };

const START = { startMs: 300_000 };

export const AT_HOST = "/api/fleet/hosts/edge-7/api";

export interface Answer {
  status: number;
  // deno-lint-ignore no-explicit-any
  body: any;
}

/** A program, which may go on as another version with the same data. */
export interface Side {
  version: Version;
  running: Longshore;
  /** Calls the API as admin. Event streams are closed at once. */
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Calls an endpoint that must succeed. @returns The body. */
  must(method: string, path: string, body?: unknown): Promise<Answer["body"]>;
  open(path: string): Promise<Response>;
  /** Runs a command beside the service. @returns Its output; the error where it has failed. */
  run(...args: string[]): Promise<{ code: number; stdout: string; stderr: string }>;
  /** Reads or changes its database. */
  sql(text: string, ...values: SQLInputValue[]): Record<string, unknown>[];
  kill(): Promise<void>;
  start(version?: Version): Promise<void>;
}

export interface Pair extends AsyncDisposable {
  hub: Side;
  member: Side;
  /** Bodies of messages to people, by the side that sends them, and events at webhooks of the hub. */
  told: { hub: string[]; member: string[] };
  events: { id: string; body: Record<string, unknown> }[];
  /** Lets a container of the member run out of memory. */
  happen(container: string): Promise<void>;
  /** The host as the hub has it. */
  host(): Promise<Answer["body"]>;
  /** Waits until the hub has the host in a state. */
  is(state: string): Promise<void>;
}

export async function startPair(hub: Version, member: Version): Promise<Pair> {
  await using stack = new AsyncDisposableStack();
  const folder = await Deno.makeTempDir({ prefix: "longshore-skew-" });
  stack.defer(() => Deno.remove(folder, { recursive: true }));
  let feed: ReadableStreamDefaultController<Uint8Array> | undefined;
  const welcome = (text: string) =>
    new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode(text)),
    });
  const engine = stack.use(fakeEngine({
    ...engineOf(plantedSecrets()),
    "GET /events": () => new Response(new ReadableStream({ start: (own) => void (feed = own) })),
    "POST /containers/*/exec": () => Response.json({ Id: "exec1" }, { status: 201 }),
    "POST /exec/*/start": () => new Response(welcome("welcome $ ")),
    "GET /exec/*/json": () => Response.json({ Running: true, Pid: 42, ExitCode: null }),
    "POST /exec/*/resize": () => new Response(null),
  }));
  const told: Pair["told"] = { hub: [], member: [] };
  const events: Pair["events"] = [];
  const receiver = stack.use(fakeReceiver(({ path, headers, body }) => {
    if (path === "/hook") events.push({ id: headers["webhook-id"]!, body: JSON.parse(body) });
    else told[path.split("/")[1] as keyof typeof told].push(body);
    return new Response("{}");
  }));
  const env = {
    FLEET_INSECURE: "on",
    OUTBOUND_ALLOW: "127.0.0.1",
    TERMINAL: "admin",
    FLEET_ALLOW: "admin",
    FLEET_TERMINAL: "on",
  };
  const newSide = async (name: "hub" | "member", version: Version) => {
    const side = await startSide(version, {
      dataDir: `${folder}/${name}`,
      engineSocket: name === "member" ? engine.socketPath : `${folder}/no-engine.sock`,
      env: { ...env, SERVER_NAME: name, PORT: String(freePort()), API_KEY: crypto.randomUUID() },
    });
    stack.defer(() => side.kill());
    await side.must("POST", "/api/notifications/channels", {
      ...{ name, kind: "gotify", config: { url: `${receiver.url}${name}`, token: "t" } },
      ...{ events: ["container.oom"], minSeverity: "info" },
    });
    return side;
  };
  const sides = { hub: await newSide("hub", hub), member: await newSide("member", member) };
  await sides.hub.must("POST", "/api/webhooks", {
    ...{ name: "All", url: `${receiver.url}hook`, events: ["container.oom"] },
  });
  const host = async () => (await sides.hub.must("GET", "/api/fleet/hosts")).hosts[0];
  const moved = stack.move();
  return {
    ...sides,
    told,
    events,
    host,
    async happen(container) {
      await until("the member follows its engine", () => feed);
      const Actor = { ID: idOf(container), Attributes: { name: container } };
      const event = { Type: "container", Action: "oom", Actor, time: 0, timeNano: 0 };
      feed!.enqueue(new TextEncoder().encode(JSON.stringify(event) + "\n"));
    },
    is: async (state) =>
      void await until(`the host is ${state}`, async () => (await host())?.state === state, LINK),
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  };
}

async function startSide(
  version: Version,
  options: { dataDir: string; engineSocket: string; env: Record<string, string> },
): Promise<Side> {
  const side: Side = {
    version,
    running: await startLongshore({ ...options, ...START, program: version.program }),
    async open(path) {
      const { baseUrl } = side.running;
      const headers = { authorization: `Bearer ${await side.running.token()}` };
      const limit = new AbortController();
      const timer = setTimeout(() => limit.abort(`no answer to GET ${path}`), ANSWER_MS);
      return await fetch(baseUrl + path, { headers, signal: limit.signal })
        .finally(() => clearTimeout(timer));
    },
    async call(method, path, body) {
      const response = await fetch(side.running.baseUrl + path, {
        method,
        headers: {
          authorization: `Bearer ${await side.running.token()}`,
          ...body !== undefined && { "content-type": "application/json" },
        },
        body: body === undefined ? null : JSON.stringify(body),
        redirect: "manual",
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      const { status, headers } = response;
      const type = headers.get("content-type") ?? "";
      if (type.startsWith("text/event-stream")) {
        await response.body?.cancel();
        return { status, body: undefined };
      }
      const text = await response.text();
      // A note is valid for 20 seconds, in which a busy machine does not always handle it.
      if (status === 502 && /note has expired/.test(text)) {
        return await side.call(method, path, body);
      }
      return { status, body: type.startsWith("application/json") ? JSON.parse(text) : text };
    },
    async must(method, path, body) {
      const answer = await side.call(method, path, body);
      equal(answer.status < 300, true, `${method} ${path}: ${JSON.stringify(answer)}`);
      return answer.body;
    },
    async run(...args) {
      const { code, stdout, stderr } = await new Deno.Command(side.version.program, {
        args,
        clearEnv: true,
        env: { ...runtimeEnvironment(), DATA_DIR: options.dataDir, ...options.env },
        stdin: "null",
      }).output();
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
      return { code, stdout: text(stdout), stderr: text(stderr) };
    },
    sql(text, ...values) {
      using db = new DatabaseSync(`${options.dataDir}/state.sqlite`, { timeout: 10_000 });
      return db.prepare(text).all(...values);
    },
    kill: () => side.running.kill9(),
    async start(next = side.version) {
      side.version = next;
      side.running = await startLongshore({ ...options, ...START, program: next.program });
    },
  };
  return side;
}
