/**
 * Runs a freshly built executable the way a user does: `version`, `config`, then `serve` with an
 * empty data directory, a GET request to every endpoint, and SIGTERM. It runs without a container
 * engine, and again with the engine of this host where there is one, which is only read from.
 *
 *     deno run -A check_executable.ts EXECUTABLE standalone|bundled
 *
 * @module
 */

import { checkEveryGet } from "./endpoint_check.ts";

/** Longest start, in milliseconds; the first one unpacks the runtime. */
const START_MS = 60_000;

/** Longest stop after SIGTERM, in milliseconds. */
const STOP_MS = 20_000;

const POLL_MS = 10;

/** Docker's socket unless `DOCKER_HOST` names another. */
const DOCKER_SOCKET = "/var/run/docker.sock";

if (import.meta.main) {
  const [executable, kind] = Deno.args;
  if (executable === undefined || (kind !== "standalone" && kind !== "bundled")) {
    console.error("usage: check_executable.ts EXECUTABLE standalone|bundled");
    Deno.exit(2);
  }
  try {
    for (const line of await checkExecutable(await Deno.realPath(executable), kind)) {
      console.log(line);
    }
  } catch (error) {
    console.error(`check failed: ${error instanceof Error ? error.message : error}`);
    Deno.exit(1);
  }
}

/**
 * @returns The results, one sentence for each line.
 * @throws {Error} When anything is not as a user needs it, with what the executable wrote.
 */
async function checkExecutable(
  executable: string,
  kind: "standalone" | "bundled",
): Promise<string[]> {
  // Beside the executable: the usual temporary directory may be mounted noexec.
  const directory = await Deno.makeTempDir({
    dir: executable.slice(0, executable.lastIndexOf("/")),
    prefix: ".check-",
  });
  try {
    const port = freePort();
    const environment = {
      PATH: Deno.env.get("PATH") ?? "/usr/bin:/bin",
      HOME: directory,
      LONGSHORE_RUNTIME_DIR: `${directory}/runtime`,
      DATA_DIR: `${directory}/data`,
      DOCKER_HOST: `unix://${directory}/no-engine.sock`,
      HOST: "127.0.0.1",
      PORT: String(port),
      API_KEY: crypto.randomUUID() + crypto.randomUUID(),
      LOG_FORMAT: "json",
    };
    const version = await checkVersion(executable, kind, environment);
    await checkKeysAreBaked(executable, environment);
    const { startMs, gets } = await checkService(executable, environment, { engine: false });
    const socket = await hostEngine();
    if (socket !== undefined) {
      const env = { ...environment, DOCKER_HOST: `unix://${socket}` };
      await checkService(executable, env, { engine: true });
    }
    return [
      version,
      `It starts to its first answer in ${startMs} ms and ends with status 0.`,
      `All ${gets} GET endpoints answer without an engine` +
      (socket === undefined ? "." : `, and with the one at ${socket}.`),
    ];
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function checkVersion(
  executable: string,
  kind: string,
  env: Record<string, string>,
): Promise<string> {
  const text = (await run(executable, ["version"], env)).trimEnd();
  const form = /^longshore \d+\.\d+\.\d+\S* \(deno \d+\.\d+\.\d+, (\w+)[^\n]*\)$/.exec(text)?.[1];
  // The plain runtime in place of its compile-time base answers too, but not with this.
  if (form === undefined || (form === "standalone") !== (kind === "standalone")) {
    throw new Error(`"version" says "${text.slice(0, 200)}", which is not a ${kind} longshore`);
  }
  return text;
}

/** A build that took itself for the source would let its user add keys that sign licenses. */
async function checkKeysAreBaked(executable: string, env: Record<string, string>): Promise<void> {
  if ((await run(executable, ["config"], env)).includes("LICENSE_KEYS_FILE")) {
    throw new Error("it reads LICENSE_KEYS_FILE, which is for running from source only");
  }
}

async function run(executable: string, args: string[], env: Record<string, string>) {
  const { code, stdout, stderr } = await new Deno.Command(executable, {
    args,
    env,
    clearEnv: true,
    stdin: "null",
  }).output();
  if (code !== 0) {
    const said = new TextDecoder().decode(stderr).slice(0, 2000);
    throw new Error(`"${args.join(" ")}" ended with status ${code}. ${said}`);
  }
  return new TextDecoder().decode(stdout);
}

/** @returns Milliseconds from the start to the first answer, and how many endpoints answered. */
async function checkService(
  executable: string,
  env: Record<string, string>,
  { engine }: { engine: boolean },
): Promise<{ startMs: number; gets: number }> {
  const started = performance.now();
  const child = new Deno.Command(executable, {
    args: ["serve"],
    env,
    clearEnv: true,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output = Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  let ended: Deno.CommandStatus | undefined;
  child.status.then((status) => ended = status);
  try {
    const base = `http://127.0.0.1:${env.PORT}`;
    const answering = async (path: string) => {
      while (await statusOf(base + path) !== 200) {
        if (ended !== undefined) throw new Error(`"serve" ended with status ${ended.code}`);
        if (performance.now() - started > START_MS) throw new Error(`${path} is never 200`);
        await new Promise((resolve) => setTimeout(resolve, POLL_MS));
      }
    };
    await answering("/livez");
    const startMs = Math.round(performance.now() - started);
    await answering("/readyz");
    const gets = await checkAnswers(base, env.API_KEY!, { engine });
    await checkDashboard(base);
    await run(executable, ["healthcheck"], env);

    child.kill("SIGTERM");
    const late = setTimeout(() => child.kill("SIGKILL"), STOP_MS);
    const status = await child.status;
    clearTimeout(late);
    if (status.code !== 0) {
      throw new Error(`SIGTERM: it ended with status ${status.code}, signal ${status.signal}`);
    }
    return { startMs, gets };
  } catch (error) {
    if (ended === undefined) child.kill("SIGKILL");
    const written = (await output).join("\n").slice(-4000);
    throw new Error(`${error instanceof Error ? error.message : error}\n${written}`);
  } finally {
    await output;
  }
}

/** The page and each of its files. */
async function checkDashboard(base: string): Promise<void> {
  const page = await fetch(`${base}/containers`);
  const html = await page.text();
  const files = [...html.matchAll(/(?:src|href)="([^"]*assets\/[^"]+)"/g)].map(([, name]) => name!);
  if (page.status !== 200 || files.length === 0) {
    throw new Error(`the dashboard answers ${page.status} with ${files.length} files`);
  }
  for (const name of files) {
    const status = await statusOf(new URL(name, page.url).href);
    if (status !== 200) throw new Error(`${name} of the dashboard answers ${status}`);
  }
}

/** @returns How many GET endpoints there are. */
async function checkAnswers(
  base: string,
  apiKey: string,
  { engine }: { engine: boolean },
): Promise<number> {
  const post = (path: string, body: unknown, token?: string) =>
    fetch(base + path, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    });
  const tokens = await post("/auth/token", { apiKey });
  if (tokens.status !== 200) throw new Error(`POST /auth/token: ${await tokens.text()}`);
  const { accessToken } = await tokens.json();
  // Otherwise every endpoint of the other editions only answers that it needs a license.
  const trial = await post("/api/edition/trial", {}, accessToken);
  const text = await trial.text();
  // The second service has the data directory of the first one.
  if (!trial.ok && trial.status !== 409) throw new Error(`POST /api/edition/trial: ${text}`);

  const { count, failures } = await checkEveryGet(base, accessToken, { engine });
  if (failures.length > 0) throw new Error(failures.join("\n"));
  return count;
}

/** The socket of this host's engine, if one answers. */
async function hostEngine(): Promise<string | undefined> {
  const named = Deno.env.get("DOCKER_HOST");
  const path = named?.startsWith("unix://") ? named.slice("unix://".length) : DOCKER_SOCKET;
  try {
    (await Deno.connect({ transport: "unix", path })).close();
    return path;
  } catch {
    return undefined;
  }
}

async function statusOf(url: string): Promise<number | undefined> {
  try {
    const answer = await fetch(url);
    await answer.body?.cancel();
    return answer.status;
  } catch {
    return undefined; // It does not listen yet.
  }
}

function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  return port;
}
