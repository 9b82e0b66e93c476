/**
 * The real application, built as the program builds it, with databases in memory and a clock that the
 * test controls.
 *
 * @module
 */

import { createJobs } from "../../services/git/fetch/jobs.ts";
import { createGitRounds } from "../../services/git/rounds.ts";
import { lookup } from "node:dns/promises";
import { assemble } from "../../commands/assemble.ts";
import {
  type Database,
  type MetricsDatabase,
  openMetricsDatabase,
  openStateDatabase,
  type StateDatabase,
} from "../../db/database.ts";
import { migrate, type Migration } from "../../db/migrate.ts";
import { metricsMigrations } from "../../db/migrations/metrics/mod.ts";
import { stateMigrations } from "../../db/migrations/state/mod.ts";
import { connectEngine, type Engine } from "../../engine/client.ts";
import { type App, createApp } from "../../routes/app.ts";
import { identify } from "../../routes/pipeline/authorize.ts";
import type { Identify } from "../../routes/pipeline/request_context.ts";
import { callerOf } from "../../services/access/accounts.ts";
import type { Role } from "../../services/access/caller.ts";
import type { Scope } from "../../services/access/scope.ts";
import { type Config, readConfig } from "../../services/config/config.ts";
import type { Deps } from "../../services/deps.ts";
import type { AppEvent } from "../../services/events/events.ts";
import type { EventKind } from "../../services/events/kinds/mod.ts";
import type { Edition } from "../../services/edition.ts";
import { assertDocumented } from "./documented.ts";
import { createLog, type Log, silentLog } from "../../services/log.ts";
import type { OutboundDeps } from "../../services/outbound/url.ts";
import { createSecrets, type Secrets } from "../../services/secrets/secrets.ts";
import { directLoader } from "./direct_loader.ts";
import { directRepository } from "./direct_repository.ts";
import { quickPasswords } from "./quick_passwords.ts";

/** The default client address of a test. */
export const TEST_ADDRESS = "192.0.2.1";

/** The default client of a sign-in. */
export const TEST_CLIENT = { address: TEST_ADDRESS, userAgent: null };

/** The API key of the application in a test. */
export const TEST_API_KEY = "lsk_the-api-key-of-the-tests";

export interface TestClock {
  now: () => Date;
  /** Sets the clock, e.g. to `"2026-01-01T12:00:00Z"`. */
  set(time: string): void;
  advance(duration: { ms?: number; seconds?: number; minutes?: number; days?: number }): void;
}

export interface CallOptions {
  /** A real access token; without one, the caller is a fictitious user with `role`. */
  token?: string | undefined;
  /** Default: admin; `public` sends no token. */
  role?: Role;
  /** The fictitious caller is an API token with these limits. */
  scope?: Partial<Scope> | undefined;
  headers?: Record<string, string>;
  /** Default {@linkcode TEST_ADDRESS}. */
  address?: string;
}

export interface Answer {
  status: number;
  /** Parsed if it is JSON, else the text; `undefined` if empty. */
  // deno-lint-ignore no-explicit-any
  body: any;
  headers: Headers;
}

export interface TestApp extends Disposable {
  deps: Deps;
  clock: TestClock;
  /** The application itself, for requests that `call` cannot make. */
  app: App;
  /**
   * Calls it; `body` is sent as JSON, a string or bytes as they are. Throws if the API document
   * does not have the answer.
   */
  call(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Answer>;
  /** The same with the whole response; the caller has to end a stream. */
  fetch(method: string, path: string, body?: unknown, options?: CallOptions): Promise<Response>;
}

export interface TestAppOptions {
  /** Default: the Community Edition. */
  edition?: Edition;
  /** Initial time of the clock. */
  now?: string;
  /** Default: an unreachable engine. The caller closes it. */
  engine?: Engine;
  /**
   * Differences from the defaults of the configuration. In a test there is no rate limit, and
   * the API key is {@linkcode TEST_API_KEY}.
   */
  config?: Partial<Config>;
  log?: Log;
  /** Default: keys that are the same in every test. */
  secrets?: Secrets;
  self?: Deps["self"];
  /** Default: a new one in memory. A given one stays open. */
  db?: StateDatabase;
}

/** A state database in memory, with every migration. */
export const openTestDatabase: () => StateDatabase = copies(openStateDatabase, stateMigrations);

/** A metrics database in memory, with every migration. */
export const openTestMetrics: () => MetricsDatabase = copies(
  openMetricsDatabase,
  metricsMigrations,
);

/** Migrates the first database of the process. The others are copies of its pages, which is faster. */
function copies<D extends Database>(
  open: (path: string, content?: Uint8Array) => D,
  migrations: readonly Migration[],
): () => D {
  let content: Uint8Array | undefined;
  return () => {
    if (content === undefined) {
      const db = open(":memory:");
      migrate(db, migrations);
      content = contentOf(db);
      db.close();
    }
    return open(":memory:", content);
  };
}

/** The bytes of a file with the same content. */
function contentOf(db: Database): Uint8Array {
  const path = Deno.makeTempFileSync({ prefix: "longshore-test-" });
  try {
    db.run("VACUUM INTO :path", { path });
    return Deno.readFileSync(path);
  } finally {
    Deno.removeSync(path);
  }
}

export function testClock(start = "2026-01-01T00:00:00Z"): TestClock {
  let atMs = Date.parse(start);
  return {
    now: () => new Date(atMs),
    set: (time) => atMs = Date.parse(time),
    advance({ ms = 0, seconds = 0, minutes = 0, days = 0 }) {
      atMs += ms + 1000 * (seconds + 60 * (minutes + 24 * 60 * days));
    },
  };
}

/** The configuration of an application in a test. */
export function testConfig(changes: Partial<Config> = {}): Config {
  const defaults = readConfig({}, {
    hostname: "test-host",
    terminal: false,
    packed: false,
    readTextFile: () => {
      throw new Error("a test has no files");
    },
  });
  return { ...defaults, apiKey: TEST_API_KEY, rateLimitPerMinute: 0, ...changes };
}

/** Collects the events that are published from now on, and publishes them. */
export function collectEvents(
  { deps: { events } }: Pick<TestApp, "deps">,
  isWanted: (kind: EventKind) => boolean = () => true,
): AppEvent[] {
  const collected: AppEvent[] = [];
  const publish = events.publish.bind(events);
  events.publish = (event) => {
    if (isWanted(event.event)) collected.push(event);
    publish(event);
  };
  return collected;
}

/** Keys that are the same in every test. */
export const testSecrets = () =>
  createSecrets({
    jwtSecret: new Uint8Array(32).fill(1),
    secretKey: new Uint8Array(32).fill(2),
  });

/** A log of all levels, whose lines are kept. */
export function keptLog(): { log: Log; lines: string[] } {
  const lines: string[] = [];
  const options = { level: "debug", format: "json", now: () => new Date() } as const;
  return { log: createLog(options, (line) => lines.push(line)), lines };
}

/** Builds the application without workers. */
export function testApp(options: TestAppOptions = {}): TestApp {
  const clock = testClock(options.now);
  const engine = options.engine ?? connectEngine("/nonexistent/engine.sock");
  const parts = assemble({
    config: testConfig(options.config),
    db: options.db ?? openTestDatabase(),
    metrics: openTestMetrics(),
    engine,
    secrets: options.secrets ?? testSecrets(),
    self: options.self ?? { id: null, hostname: null },
    log: options.log ?? silentLog,
    now: clock.now,
  });
  const deps = Object.assign(
    parts,
    {
      resolve: resolveInTest,
      passwords: quickPasswords(),
      composeLoader: directLoader,
      openRepository: directRepository,
      git: createGitRounds(() => Promise.resolve({ run: createJobs(), close() {} })),
    } satisfies Partial<Deps & OutboundDeps>,
  );
  if (options.edition && options.edition !== "ce") {
    deps.license.use({
      customer: "test",
      edition: options.edition,
      expiresAt: new Date("2999-01-01T00:00:00Z"),
      limits: {},
    });
  }
  const app = createApp(deps, orMadeUp(identify(deps), deps));

  const fetch: TestApp["fetch"] = (method, path, body, options = {}) =>
    app(requestOf(method, path, body, options), options.address ?? TEST_ADDRESS);
  return {
    deps,
    clock,
    app,
    fetch,
    async call(...request) {
      const [method, path, , { headers = {} } = {}] = request;
      const answer = await answerOf(await fetch(...request));
      // On the domain of a status page, paths have another meaning.
      if (!("host" in headers)) assertAnswer(method, path, answer);
      return answer;
    },
    [Symbol.dispose]() {
      deps.stream.close();
      if (!options.engine) engine.close();
      deps.metrics.close();
      if (!options.db) deps.db.close();
    },
  };
}

/** The machine's DNS may be slow or missing: only `localhost` has addresses. */
async function resolveInTest(host: string): Promise<string[]> {
  if (host !== "localhost") throw new Error(`getaddrinfo ENOTFOUND ${host}`);
  return (await lookup(host, { all: true })).map(({ address }) => address);
}

const NO_LIMITS = {
  userId: "key",
  name: "token of the test",
  permissions: null,
  stacks: null,
  containers: null,
  hosts: null,
  hostLabels: null,
  createdAt: "2026-01-01T00:00:00.000Z",
  rotatedAt: null,
  expiresAt: null,
  lastUsedAt: null,
  lastUsedAddress: null,
};

/** Stands for a token, and can never be a valid one. */
const MADE_UP = "Made-Up ";

/** Lets a test call as a role without a login; other callers are identified as usual. */
function orMadeUp(real: Identify, { accounts }: Pick<Deps, "accounts">): Identify {
  return async (request, options) => {
    const header = request.headers.get("authorization");
    if (!header?.startsWith(MADE_UP)) return await real(request, options);
    const { address } = options;
    const [role, scope] = header.slice(MADE_UP.length).split("; ");
    if (scope === undefined) {
      return { userId: "key", role: role as Role, familyId: "family of the test", address };
    }
    const hash = `${role} ${scope}`;
    accounts.putToken({ ...NO_LIMITS, ...JSON.parse(scope), role, id: hash, tokenHash: hash });
    const apiToken = { id: hash, name: "token of the test", hash };
    return callerOf(accounts, { userId: "key", familyId: "", apiToken }, address);
  };
}

function requestOf(
  method: string,
  path: string,
  body: unknown,
  { token, role = "admin", scope, headers = {} }: CallOptions,
): Request {
  const all = new Headers(headers);
  if (!all.has("authorization")) {
    if (token !== undefined) all.set("authorization", `Bearer ${token}`);
    else if (role !== "public") {
      all.set("authorization", MADE_UP + role + (scope ? `; ${JSON.stringify(scope)}` : ""));
    }
  }
  const raw = typeof body === "string" || body instanceof Uint8Array || body === undefined;
  if (!raw && !all.has("content-type")) all.set("content-type", "application/json");
  return new Request(`http://longshore.test${path}`, {
    method,
    headers: all,
    body: raw ? body as BodyInit | null ?? null : JSON.stringify(body),
  });
}

function assertAnswer(method: string, path: string, { status, headers, body }: Answer): void {
  assertDocumented({ method, path, status, type: headers.get("content-type") ?? "", body });
}

async function answerOf(response: Response): Promise<Answer> {
  const { status, headers } = response;
  const text = await response.text();
  const json = headers.get("content-type")?.startsWith("application/json");
  return { status, headers, body: text === "" ? undefined : json ? JSON.parse(text) : text };
}
