/** A program with an engine, containers and signed-in callers, to be compared with another. @module */

import { deepEqual, equal } from "node:assert/strict";
import { type Longshore, startLongshore } from "./longshore.ts";
import { BUSYBOX, type OwnEngine, startDockerd } from "./real_engine.ts";
import { until } from "./until.ts";

export type Edition = "Community" | "trial";
export type Caller = string;
export interface World extends AsyncDisposable {
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

/** Requests after which a caller may have to sign in again. */
export const ENDS_SESSIONS = /^\/auth\/|^\/api\/(account|users|tokens|roles)|\/roles/;

/** Limit for the first frames of a stream, in milliseconds; some have none until something happens. */
const FRAMES_MS = 700;

/** Limit for any other request, in milliseconds. */
const REQUEST_MS = 120_000;

/** Headers that differ between two runs of the same program. */
const UNSTABLE_HEADERS = /^(date|etag|content-length|keep-alive)$/;

export async function openWorld(program: string, edition: Edition, mode: string): Promise<World> {
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
export async function arrange({ docker }: OwnEngine): Promise<void> {
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
export async function proveCallers({ service, tokens }: World): Promise<void> {
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

export async function jobEnd({ service, tokens }: World, id: string): Promise<void> {
  const token = [...tokens.values()].at(-1);
  await until(`job ${id} ends`, async () => {
    const { status, body } = await call(service, token, "GET", `/api/jobs/${id}`);
    return status !== 200 || parsed(body).endedAt !== null;
  });
}

/** Signs in the callers whose session or token has ended. */
export async function keepSignedIn({ service, tokens, signIn }: World): Promise<void> {
  for (const [caller, token] of [...tokens].reverse()) {
    if (!token || (await call(service, token, "GET", "/auth/me")).status === 200) continue;
    tokens.set(caller, undefined);
    tokens.set(caller, await signIn(caller));
  }
}

async function created(service: Longshore, token: string | undefined, path: string, body: object) {
  const answer = await call(service, token, "POST", path, body);
  if (answer.status >= 300) throw new Error(`POST ${path}: ${answer.status} ${answer.body}`);
  return parsed(answer.body);
}

let requests = 0;

/** @param token `undefined` for none. Each request has an address of its own, because of limits. */
export async function call(
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

export const parsed = (text: string) => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
