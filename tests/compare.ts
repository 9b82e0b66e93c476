/**
 * Compares two executables: every endpoint of the API document, by every kind of caller, in the
 * Community Edition and in the trial, on private engines with the same containers.
 *
 *     deno task compare OLD NEW [WORD]
 *
 * Compared are status, headers and body (of streams the first frames, of archives the names of their
 * files), and in the end the audit and compliance logs. Numbers, ids and times are masked. Before
 * anything else, each caller has to be signed in. With a word, only paths that contain it are called.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { type Operation, operationsOf } from "../deploy/build/endpoint_check.ts";
import { exampleOf } from "./acceptance/endpoint_walk.ts";
import { type Longshore, startLongshore } from "./helpers/longshore.ts";
import { BUSYBOX, type OwnEngine, startDockerd } from "./helpers/real_engine.ts";
import { until } from "./helpers/until.ts";

type Edition = "Community" | "trial";
type Caller = string;
/** Masked responses and log rows, by the request. */
type Recorded = Map<string, Readonly<Record<string, string>>>;

interface World extends AsyncDisposable {
  service: Longshore;
  engine: OwnEngine;
  /** The caller's access token; `undefined` for none. */
  tokens: Map<Caller, string | undefined>;
  signIn(caller: Caller): Promise<string | undefined>;
  /** Ids of what was created, by the path that creates it. */
  ids: Map<string, string>;
}

const PASSWORD = "correct horse battery staple";

interface CallerKind {
  mode: "users" | "key";
  /** A user of this role; the email begins with it. */
  role?: string;
  /** An API token of the admin. */
  token?: { name: string; role: string; permissions?: string[]; stacks?: string[] };
}

/** The admin comes last, as an admin changes the most. */
const CALLERS: Record<string, CallerKind> = {
  "no caller": { mode: "users" },
  "viewer": { mode: "users", role: "viewer" },
  "token of one permission": {
    mode: "users",
    token: { name: "reading", role: "operator", permissions: ["containers:read"] },
  },
  "token of one stack": {
    mode: "users",
    token: { name: "limited", role: "operator", stacks: ["shop"] },
  },
  "operator": { mode: "users", role: "operator" },
  "admin": { mode: "users", role: "admin" },
  "admin key": { mode: "key" },
};

const METHODS = ["GET", "POST", "PUT", "DELETE"];

/** Requests after which a caller may have to sign in again. */
const ENDS_SESSIONS = /^\/auth\/|^\/api\/(account|users|tokens|roles)|\/roles/;

/** Limit for the first frames of a stream, in milliseconds; some have none until something happens. */
const FRAMES_MS = 700;

/** Limit for any other request, in milliseconds. */
const REQUEST_MS = 120_000;

/** Headers that differ between two runs of the same program. */
const UNSTABLE_HEADERS = /^(date|etag|content-length|keep-alive)$/;

async function record(program: string, edition: Edition, mode: string, word: string) {
  await using world = await openWorld(program, edition, mode);
  await proveCallers(world);
  const all = await operationsOf(world.service.baseUrl);
  const recorded: Recorded = new Map();
  for (const method of METHODS) {
    for (const operation of all) {
      if (operation.method !== method || !operation.path.includes(word)) continue;
      for (const caller of world.tokens.keys()) {
        for (const [kind, body] of bodiesOf(operation)) {
          const name = `${operation.method} ${operation.path} | ${edition}, ${caller}, ${kind}`;
          recorded.set(name, await send(world, caller, operation, body));
        }
      }
    }
  }
  await recordLogs(world, `${edition}, ${mode} mode`, recorded);
  return recorded;
}

async function openWorld(program: string, edition: Edition, mode: string): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const engine = stack.use(await startDockerd());
  await arrange(engine);
  const service = stack.use(
    await startLongshore({
      program,
      engineSocket: engine.socketPath,
      env: {
        AUTH_MODE: mode,
        TRUSTED_PROXIES: "127.0.0.1",
        ...(mode === "users" && { ADMIN_EMAIL: "admin@example.com", ADMIN_PASSWORD: PASSWORD }),
      },
    }),
  );
  const tokens: World["tokens"] = new Map();
  const admin = async () => {
    const known = tokens.get(mode === "key" ? "admin key" : "admin");
    return known ?? await signIn(mode === "key" ? "admin key" : "admin");
  };
  const signIn = async (caller: Caller): Promise<string | undefined> => {
    const { role, token } = CALLERS[caller]!;
    if (caller === "no caller") return undefined;
    if (token) return (await created(service, await admin(), "/api/tokens", token)).token;
    const [path, body] = role === undefined
      ? ["/auth/token", { apiKey: service.apiKey }]
      : ["/auth/login", { email: `${role}@example.com`, password: PASSWORD }];
    return (await created(service, undefined, path!, body as object)).accessToken;
  };
  if (edition === "trial") await created(service, await admin(), "/api/edition/trial", {});
  for (const role of mode === "users" ? ["viewer", "operator"] : []) {
    const user = { email: `${role}@example.com`, password: PASSWORD, role };
    await created(service, await admin(), "/auth/users", user);
  }
  for (const [caller, { mode: own }] of Object.entries(CALLERS)) {
    if (own === mode) tokens.set(caller, await signIn(caller));
  }
  const all = stack.move();
  return {
    ...{ service, engine, tokens, signIn, ids: new Map() },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** Creates the containers that are missing, after a caller has removed or stopped some. */
async function arrange({ docker }: OwnEngine): Promise<void> {
  const running = (await docker("ps", "--format={{.Names}} {{.Status}}")).split("\n")
    .filter((line) => !line.includes("(Paused)")).map((line) => line.split(" ")[0]);
  for (const [name, ...labels] of [["web"], ["shop-api-1", "project=shop", "service=api"]]) {
    if (running.includes(name)) continue;
    await docker("rm", "--force", name!).catch(() => {});
    const options = labels.map((label) => `--label=com.docker.compose.${label}`);
    const command = ["sh", "-c", "trap 'exit 0' TERM; echo ready; sleep 100000 & wait"];
    await docker("run", "--detach", `--name=${name}`, ...options, BUSYBOX, ...command);
  }
}

/** Fails unless every caller is who it seems to be: refusals to all would be equal, too. */
async function proveCallers({ service, tokens }: World): Promise<void> {
  const get = (caller: Caller, path: string) => call(service, tokens.get(caller), "GET", path);
  await until("the containers are known", async () => {
    const { body } = await get([...tokens.keys()].at(-1)!, "/api/containers");
    return body.includes('"web"') && body.includes('"shop-api-1"');
  });
  for (const caller of tokens.keys()) {
    const { role = "admin", token } = CALLERS[caller]!;
    const [me, list] = [await get(caller, "/auth/me"), await get(caller, "/api/containers")];
    const isKnown = caller !== "no caller";
    deepEqual([me.status, list.status], isKnown ? [200, 200] : [401, 401], `${caller}: ${me.body}`);
    equal(parsed(me.body).role, isKnown ? role : undefined, caller);
    equal(list.body.includes('"web"'), isKnown && token?.stacks === undefined, caller);
    if (token?.permissions) equal((await get(caller, "/api/images")).status, 403, caller);
  }
}

/** An example, and nothing; without a body one request. */
function bodiesOf({ description }: Operation): [string, unknown][] {
  const content = description.requestBody?.content;
  if (!content) return [["without a body", undefined]];
  const schema = content["application/json"]?.schema;
  return [["with an example", schema && exampleOf(schema)], ["with an empty body", {}]];
}

async function send(world: World, caller: Caller, operation: Operation, body: unknown) {
  const { service, engine, tokens, ids } = world;
  const { method, path } = operation;
  const answer = await call(service, tokens.get(caller), method, pathOf(operation, ids), body);
  const done = answer.status < 300;
  if (done && method !== "GET") {
    const { id } = parsed(answer.body) ?? {};
    if (answer.status === 201 && id !== undefined) ids.set(path, String(id));
    if (answer.status === 202 && id !== undefined) await jobEnd(world, String(id));
    await arrange(engine);
  }
  if (method !== "GET" && ENDS_SESSIONS.test(path)) await keepSignedIn(world);
  const { status, headers } = answer;
  return { status: String(status), headers: masked(headers), body: masked(answer.body) };
}

/** The path with ids of what was created, or else examples. */
function pathOf({ path, description }: Operation, ids: World["ids"]): string {
  const real: Record<string, string> = { "/api/containers": "web", "/api/stacks": "shop" };
  return path.replace(/\{(\w+)\}/g, (_, name, at) => {
    const collection = path.slice(0, at - 1);
    const { example, schema } = description.parameters.find((each: { in: string; name: string }) =>
      each.in === "path" && each.name === name
    );
    return encodeURIComponent(
      ids.get(collection) ?? real[collection] ?? example ??
        (schema.format === "uuid" ? "00000000-0000-4000-8000-000000000000" : "unknown"),
    );
  });
}

async function jobEnd({ service, tokens }: World, id: string): Promise<void> {
  const token = [...tokens.values()].at(-1);
  await until(`job ${id} ends`, async () => {
    const { status, body } = await call(service, token, "GET", `/api/jobs/${id}`);
    return status !== 200 || parsed(body).endedAt !== null;
  });
}

/** Signs in the callers whose session or token has ended. */
async function keepSignedIn({ service, tokens, signIn }: World): Promise<void> {
  for (const [caller, token] of [...tokens].reverse()) {
    if (!token || (await call(service, token, "GET", "/auth/me")).status === 200) continue;
    tokens.set(caller, undefined);
    tokens.set(caller, await signIn(caller));
  }
}

async function recordLogs({ service, tokens }: World, name: string, recorded: Recorded) {
  const token = [...tokens.values()].at(-1);
  const compliance = "/api/ext/service-enterprise/compliance/logs";
  for (const [path, key] of [["/api/audit", "entries"], [compliance, "logs"]]) {
    const rows: string[] = [];
    for (let offset = 0, total = 1; offset < total; offset += 500) {
      const page = await call(service, token, "GET", `${path}?limit=500&offset=${offset}`);
      if (page.status !== 200) break;
      total = parsed(page.body).total;
      for (const row of parsed(page.body)[key!]) rows.push(masked(JSON.stringify(row)));
    }
    for (const row of new Set(rows)) {
      const count = rows.filter((each) => each === row).length;
      recorded.set(`row of ${path} | ${name} | ${row}`, { count: String(count) });
    }
  }
}

async function created(service: Longshore, token: string | undefined, path: string, body: object) {
  const answer = await call(service, token, "POST", path, body);
  if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${answer.body}`);
  return parsed(answer.body);
}

let requests = 0;

/** @param token `undefined` for none. Each request has an address of its own, because of limits. */
async function call(
  { baseUrl }: Longshore,
  token: string | undefined,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; headers: string; body: string }> {
  const response = await fetch(baseUrl + path, {
    method,
    headers: {
      "x-forwarded-for": `10.${++requests >> 16 & 255}.${requests >> 8 & 255}.${requests & 255}`,
      "x-requested-with": "longshore",
      ...(body !== undefined && { "content-type": "application/json" }),
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    redirect: "manual",
    signal: AbortSignal.timeout(REQUEST_MS),
  });
  const { status } = response;
  const headers = [...response.headers].filter(([name]) => !UNSTABLE_HEADERS.test(name))
    .map((pair) => pair.join(": ")).join("\n");
  const type = response.headers.get("content-type") ?? "";
  if (type.startsWith("text/event-stream")) {
    return { status, headers, body: await firstFrames(response.body!) };
  }
  const bytes = await response.bytes();
  if (!/tar|octet/.test(type)) return { status, headers, body: new TextDecoder().decode(bytes) };
  return { status, headers, body: fileNames(bytes).join("\n") };
}

/** Kinds of the first frames, with the names of their fields: what they report changes by the second. */
async function firstFrames(body: ReadableStream<Uint8Array>): Promise<string> {
  const reader = body.getReader();
  const limit = setTimeout(() => reader.cancel().catch(() => {}), FRAMES_MS);
  const decoder = new TextDecoder();
  let text = "";
  for (let part; (part = await reader.read().catch(() => undefined))?.value;) {
    text += decoder.decode(part.value, { stream: true });
  }
  clearTimeout(limit);
  const frames = text.split("\n\n").map((frame) =>
    `${/^event: .*/m.exec(frame)?.[0] ?? ""} ${[...frame.matchAll(/"(\w+)":/g)].map((m) => m[1])}`
  );
  return [...new Set(frames)].sort().join("\n");
}

/** The names of the files of an archive (tar). */
function fileNames(bytes: Uint8Array): string[] {
  const textAt = (at: number, length: number) =>
    new TextDecoder().decode(bytes.subarray(at, at + length)).split("\0")[0]!;
  const names: string[] = [];
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0;) {
    names.push(textAt(at, 100));
    at += 512 + Math.ceil(parseInt(textAt(at + 124, 12), 8) / 512) * 512;
  }
  return names;
}

const parsed = (text: string) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Replaces what differs between two runs of the same program. */
const masked = (text: string): string =>
  text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>")
    .replace(/"(Up|Exited|Created) [^"]*"/g, '"$1"')
    .replace(/[\w+/=.-]+/g, (word) => word.length >= 20 && /\d/.test(word) ? "<token>" : word)
    .replace(/-?\d+(\.\d+)?/g, "<n>");

/** Prints the differences, those of the same kind together. @returns Their number. */
function report(old: Recorded, now: Recorded): number {
  const groups = new Map<string, { where: string[]; before: string; after: string }>();
  for (const name of new Set([...old.keys(), ...now.keys()])) {
    const [request, where = ""] = name.split(" | ");
    const [before, after] = [old.get(name) ?? {}, now.get(name) ?? {}];
    for (const part of new Set([...Object.keys(before), ...Object.keys(after)])) {
      const [a, b] = [before[part] ?? "nothing", after[part] ?? "nothing"];
      if (a === b) continue;
      const at = [...a].findIndex((char, index) => char !== b[index]);
      const cut = (text: string) => text.slice(Math.max(0, at - 60), Math.max(0, at) + 140);
      const row = request!.startsWith("row") ? ` ${name.split(" | ")[2]}` : "";
      const key = `${request} ${part}${row}\n${cut(a)}\n${cut(b)}`;
      const group = groups.get(key) ?? { where: [], before: cut(a), after: cut(b) };
      group.where.push(where);
      groups.set(key, group);
    }
  }
  for (const [key, { where, before, after }] of groups) {
    console.log(`\n${key.split("\n")[0]} (${where.length}: ${where.slice(0, 4).join("; ")})`);
    console.log(
      `  - ${before.replaceAll("\n", "\n    ")}\n  + ${after.replaceAll("\n", "\n    ")}`,
    );
  }
  return groups.size;
}

if (import.meta.main) {
  const [old, now, word = ""] = Deno.args;
  if (!old || !now) {
    console.error("Usage: deno task compare OLD NEW [WORD]");
    Deno.exit(2);
  }
  let differences = 0;
  for (const edition of ["Community", "trial"] as const) {
    for (const mode of ["users", "key"]) {
      const [a, b] = await Promise.all(
        [old, now].map((program) => record(Deno.realPathSync(program), edition, mode, word)),
      );
      const statuses = Map.groupBy(b!.values(), ({ status = "rows" }) => status);
      const counts = [...statuses].map(([status, all]) => `${status}: ${all.length}`).sort();
      console.log(`\n== ${edition}, ${mode} mode: ${b!.size} compared (${counts.join(", ")})`);
      differences += report(a!, b!);
    }
  }
  console.log(`\n${differences} kinds of differences`);
}
