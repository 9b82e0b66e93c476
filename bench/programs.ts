/**
 * Measured programs: the service and an empty app on the same framework, both bundled, each as a
 * separate process on loopback.
 *
 * @module
 */

import { bundle } from "../deploy/build/bundle.ts";
import { RUN_FLAGS } from "../deploy/build/run_flags.ts";
import type { Target } from "./load.ts";

/** Flags of the empty app: fewer permissions, but the same runtime settings. */
const PLAIN = ["--no-prompt", "--allow-net", "--allow-env", "--allow-read"];

/** The reference: the framework alone, with the bytes of `BODY_FILE` and an idle event stream. */
const EMPTY_APP = `
import { Hono } from "hono";
const app = new Hono();
app.get("/livez", (c) => c.json({ status: "ok" }));
const file = Deno.env.get("BODY_FILE");
const body = file && Deno.readFileSync(file);
app.get("/body", () => new Response(body, { headers: { "content-type": "application/json" } }));
const retry = new TextEncoder().encode("retry: 5000\\n\\n");
app.get("/api/stream", () =>
  new Response(new ReadableStream({ start: (stream) => stream.enqueue(retry) }), {
    headers: { "content-type": "text/event-stream" },
  }));
Deno.serve({ port: Number(Deno.env.get("PORT")), hostname: "127.0.0.1", onListen() {} }, app.fetch);
`;

/** Settings of malloc that `deploy/build/self_extract.sh` gives to the service. */
export const MALLOC = { MALLOC_ARENA_MAX: "1", MALLOC_TRIM_THRESHOLD_: "131072" };

const API_KEY = "bench-key-0123456789abcdef";

export interface Bundles extends AsyncDisposable {
  service: string;
  empty: string;
}

/** Bundles both into a temporary directory, and starts each once. */
export async function bundlePrograms(): Promise<Bundles> {
  const directory = await Deno.makeTempDir({ prefix: "longshore-bench-" });
  const root = new URL("../", import.meta.url).pathname;
  // Next to the sources, so that the import map applies.
  const emptySource = `${root}bench/.empty_app.ts`;
  await Deno.writeTextFile(emptySource, EMPTY_APP);
  try {
    const bundles = { service: `${directory}/main.js`, empty: `${directory}/empty.js` };
    await bundle("main.ts", directory, root);
    const { success, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["bundle", "--frozen", "-o", bundles.empty, emptySource],
      cwd: root,
      stdout: "null",
      stderr: "piped",
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    await fillRuntimeCache(bundles);
    return {
      ...bundles,
      [Symbol.asyncDispose]: () => Deno.remove(directory, { recursive: true }),
    };
  } finally {
    await Deno.remove(emptySource);
  }
}

/**
 * Starts both once, with a request that loads most of the service. A first start compiles the program
 * for the runtime's cache, so it takes longer and leaves some 18 MB behind.
 */
async function fillRuntimeCache({ service, empty }: Pick<Bundles, "service" | "empty">) {
  {
    await using first = await start(service);
    const headers = { authorization: `Bearer ${await tokenOf(first)}` };
    const url = `http://127.0.0.1:${first.target.port}/api/containers`;
    await (await fetch(url, { headers })).text();
  }
  await using _first = await start(empty, {}, { plain: true });
}

export interface Running extends AsyncDisposable {
  pid: number;
  target: Target & { transport: "tcp" };
  /** From the start of the process to its first response, in milliseconds. */
  startMs: number;
  /** Resident memory now, in MB. */
  memoryMb(): Promise<number>;
}

/** Measures this executable instead of the bundle of the service. */
const EXECUTABLE = Deno.env.get("LONGSHORE_EXECUTABLE");

/** Starts a bundle and waits for its first response. */
export async function start(
  script: string,
  env: Record<string, string> = {},
  { plain = false }: { plain?: boolean } = {},
): Promise<Running> {
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-bench-data-" });
  const port = freePort();
  const started = performance.now();
  const isExecutable = EXECUTABLE !== undefined && !plain;
  const child = new Deno.Command(isExecutable ? EXECUTABLE : Deno.execPath(), {
    args: isExecutable
      ? ["serve"]
      : ["run", "--no-config", "--no-lock", ...(plain ? PLAIN : RUN_FLAGS), script],
    env: {
      ...{ PORT: String(port), HOST: "127.0.0.1", DATA_DIR: dataDir, API_KEY },
      ...{ RATE_LIMIT_PER_MINUTE: "0", LOG_LEVEL: "error", MAX_SSE_CLIENTS: "20000" },
      ...(!plain && MALLOC),
      ...env,
    },
    stdin: "null",
    stdout: "null",
    stderr: "inherit",
  }).spawn();
  const target = { transport: "tcp", hostname: "127.0.0.1", port } as const;
  await firstAnswer(target);
  const startMs = performance.now() - started;
  return {
    pid: child.pid,
    target,
    startMs,
    async memoryMb() {
      const status = await Deno.readTextFile(`/proc/${child.pid}/status`);
      return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1024;
    },
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await child.status;
      await Deno.remove(dataDir, { recursive: true });
    },
  };
}

/** A token of a running service. */
export async function tokenOf({ target }: Running): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${target.port}/auth/token`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ apiKey: API_KEY }),
  });
  return (await response.json()).accessToken;
}

function freePort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

const ANSWER_DEADLINE_MS = 15_000;

async function firstAnswer(target: Running["target"]): Promise<void> {
  const request = new TextEncoder().encode(
    "GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n",
  );
  for (const deadline = performance.now() + ANSWER_DEADLINE_MS; performance.now() < deadline;) {
    try {
      using connection = await Deno.connect(target);
      await connection.write(request);
      if (await connection.read(new Uint8Array(512))) return;
    } catch { /* not listening yet */ }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  throw new Error("no answer");
}

/** Clock ticks per second (`getconf CLK_TCK`), which is 100 on every current Linux. */
const TICKS_PER_SECOND = 100;

/** Share of one core that the process uses over the next seconds. */
export async function cpuPercent(program: Running, seconds: number): Promise<number> {
  const before = await cpuSeconds(program);
  const started = performance.now();
  await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
  const elapsedS = (performance.now() - started) / 1000;
  return (await cpuSeconds(program) - before) / elapsedS * 100;
}

/** User and kernel time of all threads until now (`proc_pid_stat(5)`, fields 14 and 15). */
export async function cpuSeconds({ pid }: Running): Promise<number> {
  const text = await Deno.readTextFile(`/proc/${pid}/stat`);
  // The name of the program, in brackets, may contain spaces.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}
