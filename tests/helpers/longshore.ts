/**
 * Runs the real program as a separate process: the sources, or the executable that
 * `LONGSHORE_EXECUTABLE` names.
 *
 * @module
 */

import { assertDocumented } from "./documented.ts";
import { programCommand, runtimeEnvironment } from "./program.ts";
import { until } from "./until.ts";

export interface Longshore extends AsyncDisposable {
  /** E.g. `http://127.0.0.1:40123`. */
  baseUrl: string;
  apiKey: string;
  dataDir: string;
  pid: number;
  /** An admin's access token in key mode, requested once, and again before it expires. */
  token(): Promise<string>;
  /** One request with `body` as JSON; as admin unless `token` is given (`null`: no token). */
  call(
    method: string,
    path: string,
    body?: unknown,
    options?: { token?: string | null; headers?: Record<string, string> },
  ): Promise<Answer>;
  /** Sends SIGTERM and waits for the end. @returns The exit status. */
  stop(): Promise<number>;
  /** Waits for the end that the program decides on. @returns The exit status. */
  end(): Promise<number>;
  /** Kills the program (SIGKILL), as a crash would. */
  kill9(): Promise<void>;
  /** Output so far, the last 256 KiB of each stream. */
  stdout(): string;
  stderr(): string;
}

export interface Answer {
  status: number;
  headers: Headers;
  /** Parsed if it is JSON, else text. */
  // deno-lint-ignore no-explicit-any
  body: any;
}

export interface LongshoreOptions {
  /** Default: a temporary directory, removed with the program. */
  dataDir?: string;
  /** More variables; they override those of this helper. */
  env?: Record<string, string>;
  /** Default: a path without an engine. */
  engineSocket?: string;
  /** Path of an executable; default: the program under test. */
  program?: string;
  /** Command and its arguments; default: those of `serve`. */
  args?: string[];
  /** Limit of file descriptors (`ulimit -n`). */
  descriptors?: number;
}

const OUTPUT_MAX = 256 * 1024;

/** Longer than the program waits for open requests, to distinguish a clean stop from a hang. */
const STOP_MAX_MS = 60_000;

/** Shorter than the lifetime of an access token, for drills that take longer. */
const RENEW_MS = 10 * 60_000;

const root = new URL("../../", import.meta.url);

/**
 * Starts the program on a free port of the loopback address and waits until it answers.
 *
 * @throws {Error} If it ends instead, with its output.
 */
export async function startLongshore(options: LongshoreOptions = {}): Promise<Longshore> {
  const dataDir = options.dataDir ?? await Deno.makeTempDir({ prefix: "longshore-test-data-" });
  const apiKey = options.env?.["API_KEY"] ?? crypto.randomUUID() + crypto.randomUUID();
  const [path, ...args] = commandOf(options);
  const child = new Deno.Command(path, {
    args,
    cwd: root,
    clearEnv: true,
    env: {
      ...runtimeEnvironment(),
      HOST: "127.0.0.1",
      PORT: "0",
      DATA_DIR: dataDir,
      DOCKER_HOST: `unix://${options.engineSocket ?? `${dataDir}/no-engine.sock`}`,
      API_KEY: apiKey,
      RATE_LIMIT_PER_MINUTE: "0",
      LOG_FORMAT: "json",
      ...options.env,
    },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();

  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  let exit: Deno.CommandStatus | undefined;
  const ended = Promise.all([child.status, stdout.end, stderr.end]).then(([status]) => {
    exit = status;
    return status;
  });
  const kill = async (signal: Deno.Signal) => {
    if (!exit) child.kill(signal);
    return await ended;
  };
  const stop = async () => {
    const limit = setTimeout(() => child.kill("SIGKILL"), STOP_MAX_MS);
    const { code, signal } = await kill("SIGTERM");
    clearTimeout(limit);
    if (signal === "SIGKILL") throw new Error(`Longshore did not stop: ${stderr.text()}`);
    return code;
  };
  const dispose = async () => {
    if (!exit) await stop();
    if (options.dataDir === undefined) await Deno.remove(dataDir, { recursive: true });
  };

  try {
    const baseUrl = await until("Longshore listens", () => {
      return exit ? "" : /listens on (\S+)/.exec(stdout.text())?.[1];
    });
    if (!baseUrl) throw new Error(`exit status ${exit?.code}`);
    let token: Promise<string> | undefined;
    let renewAt = 0;
    const currentToken = () => {
      if (token && performance.now() < renewAt) return token;
      renewAt = performance.now() + RENEW_MS;
      return token = login();
    };
    const call: Longshore["call"] = async (method, path, body, { token: given, headers } = {}) => {
      const bearer = given === undefined ? await currentToken() : given;
      return await request(method, baseUrl + path, body, {
        ...(bearer !== null && { authorization: `Bearer ${bearer}` }),
        ...headers,
      });
    };
    const login = async () => {
      const { status, body } = await call("POST", "/auth/token", { apiKey }, { token: null });
      if (status !== 200) throw new Error(`No token: ${JSON.stringify(body)}`);
      return body.accessToken as string;
    };
    return {
      baseUrl,
      apiKey,
      dataDir,
      pid: child.pid,
      token: currentToken,
      call,
      stop,
      end: async () => (await ended).code,
      async kill9() {
        await kill("SIGKILL");
      },
      stdout: stdout.text,
      stderr: stderr.text,
      [Symbol.asyncDispose]: dispose,
    };
  } catch (cause) {
    await kill("SIGKILL");
    await dispose();
    throw new Error(`Longshore did not start: ${stdout.text()}${stderr.text()}`, { cause });
  }
}

function commandOf({ program, args = [], env, descriptors }: LongshoreOptions) {
  const command = program ? [program, ...args] as const : programCommand(args, env);
  if (descriptors === undefined) return command;
  return ["sh", "-c", `ulimit -n ${descriptors} && exec "$@"`, "sh", ...command] as const;
}

/** Waits until a worker of the program has done at least one whole round from now on. */
export async function wholeRound({ call }: Longshore, worker: string): Promise<void> {
  const lastRound = async () =>
    (await call("GET", "/api/health")).body.workers
      .find(({ name }: { name: string }) => name === worker)?.lastRoundAt;
  // The first round to end may have begun earlier.
  for (let round = 0; round < 2; round++) {
    const before = await lastRound();
    await until(`a round of the ${worker} ends`, async () => await lastRound() !== before);
  }
}

async function request(
  method: string,
  url: string,
  body: unknown,
  headers: Record<string, string>,
): Promise<Answer> {
  const response = await fetch(url, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    body: body === undefined ? null : JSON.stringify(body),
    redirect: "manual",
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  const { status, headers: answered } = response;
  const answer = { status, headers: answered, body: isJson ? JSON.parse(text) : text };
  assertDocumented({
    method,
    path: new URL(url).pathname,
    status,
    type: answered.get("content-type") ?? "",
    body: answer.body,
  });
  return answer;
}

function collect(stream: ReadableStream<Uint8Array>): { text(): string; end: Promise<void> } {
  let text = "";
  const decoder = new TextDecoder();
  const end = (async () => {
    for await (const chunk of stream) {
      text = (text + decoder.decode(chunk, { stream: true })).slice(-OUTPUT_MAX);
    }
  })();
  return { text: () => text, end };
}
