/**
 * Real container engines for tests: a private one if possible (root, and `dockerd` installed), else
 * the machine's own, on which only harmless tests run.
 *
 * The functions that register a test differ in the engine: `engineTest` takes any,
 * `privateEngineTest` one that only tests use (for prune, registries and counts of all objects),
 * `ownEngineTest` a new one that may be killed, `podmanTest` a Podman that only tests use. A test
 * removes what it created, also there. A test without its engine is skipped; with
 * `LONGSHORE_REQUIRE_ENGINE=1` it fails.
 *
 * @module
 */

import {
  type Daemon,
  missingProgram,
  openSandbox,
  runInside,
  type Sandbox,
  sandboxObstacle,
  startDaemon,
} from "./sandbox.ts";
import { until } from "./until.ts";

/** The image of every test container: a static busybox with all its applets in `/bin`. */
export const BUSYBOX = "longshore-test/busybox:1";

/** Set by `tests/run.ts` for engines that all tests of a run share. */
const SOCKET_VARIABLE = "LONGSHORE_TEST_ENGINE";
const PODMAN_VARIABLE = "LONGSHORE_TEST_PODMAN";
const SANDBOX_VARIABLE = "LONGSHORE_TEST_ENGINE_SANDBOX";
const REQUIRE_VARIABLE = "LONGSHORE_REQUIRE_ENGINE";

/** An engine, with {@linkcode BUSYBOX} imported. */
export interface RealEngine {
  kind: "docker" | "podman";
  socketPath: string;
  /** Present for engines that only tests use. */
  sandbox?: Sandbox;
  /** Runs the engine's command line. @returns Its output without the last newline. */
  docker(...args: string[]): Promise<string>;
  /** Starts a container with `docker run --detach`; it is removed when disposed. */
  runContainer(options?: TestContainerOptions): Promise<TestContainer>;
}

/** An engine in its own sandbox that ends when it is disposed. */
export interface OwnEngine extends RealEngine, AsyncDisposable {
  sandbox: Sandbox;
  /** Kills the daemon (SIGKILL), as a crash would; its containers stay. */
  kill(): Promise<void>;
  /** Stops the daemon (SIGTERM), which stops its containers first. */
  stop(): Promise<void>;
  /** Starts the daemon again after `kill()` or `stop()`, on the same socket and data. */
  restart(): Promise<void>;
  /** Stops the daemon from answering until the result is disposed; connections stay open. */
  freeze(): Promise<AsyncDisposable>;
  /** The last part of the daemon's log. */
  log(): Promise<string>;
}

export interface TestContainerOptions {
  /** Default: a unique name. */
  name?: string;
  labels?: Record<string, string>;
  /** Default: writes "ready" and sleeps until it is stopped, and stops at once. */
  command?: string[];
  /** Further options of `docker run`, e.g. `["--tty"]`. */
  options?: string[];
  /**
   * Default: without labels and options about networks `host`, because a network of its own doubles
   * the processor time of a start; else the engine's default.
   */
  network?: string;
}

export interface TestContainer extends AsyncDisposable {
  id: string;
  name: string;
}

/** Options about networks, and labels, which may make the container one of a stack. */
const NEEDS_NETWORK =
  /^-(?:p|-(?:net|ip|publish|expose|link|hostname|dns|add-host|mac|sysctl|label))/;

/** Limit for a command, so that an engine that hangs does not hang the tests. */
const COMMAND_MAX_MS = 120_000;

/**
 * Process 1 has no default handling of SIGTERM, so the script traps it. A stop before that would wait
 * for SIGKILL, so the script prints when it is ready.
 */
const SLEEP = ["sh", "-c", "trap 'exit 0' TERM; echo ready; sleep 2147483647 & wait"];

/** Registers a test that changes only objects that it created. */
export function engineTest(name: string, run: (engine: RealEngine) => Promise<void>): void {
  register(name, engineObstacle(), async () => {
    await using shared = await openEngine();
    await run(shared.engine);
  });
}

/** Registers a test that needs an engine that only tests use. */
export function privateEngineTest(
  name: string,
  run: (engine: RealEngine & { sandbox: Sandbox }) => Promise<void>,
): void {
  register(name, privateEngineObstacle(), async () => {
    await using shared = await openEngine();
    const { sandbox } = shared.engine;
    if (!sandbox) throw new Error("This engine is not private");
    await run({ ...shared.engine, sandbox });
  });
}

/** Registers a test with its own Docker engine. */
export function ownEngineTest(name: string, run: (engine: OwnEngine) => Promise<void>): void {
  register(name, dockerdObstacle(), async () => {
    await using engine = await startDockerd();
    await run(engine);
  });
}

/** Registers a test that needs a Podman that only tests use. */
export function podmanTest(name: string, run: (engine: RealEngine) => Promise<void>): void {
  register(name, podmanObstacle(), async () => {
    const shared = Deno.env.get(PODMAN_VARIABLE);
    if (shared) return await run(engineAt("podman", shared));
    await using engine = await startPodman();
    await run(engine);
  });
}

/** Why no private Docker engine can be started, or `undefined`. */
export function dockerdObstacle(): string | undefined {
  return sandboxObstacle() ?? missingProgram("dockerd", "docker", "tar");
}

/** Why no Podman can be started, or `undefined`. */
export function podmanObstacle(): string | undefined {
  return sandboxObstacle() ?? missingProgram("podman", "docker", "tar");
}

/**
 * Starts a Docker engine in its own sandbox, with networks and {@linkcode BUSYBOX}.
 *
 * @param options.args Further options of `dockerd`, e.g. `["--live-restore"]`.
 */
export function startDockerd({ args = [] }: { args?: string[] } = {}): Promise<OwnEngine> {
  return startEngine("docker", ({ directory, name }, socketPath) => [
    ...["env", SELDOM_COLLECT, "dockerd"],
    `--host=unix://${socketPath}`,
    `--data-root=${directory}/data/docker`,
    "--exec-root=/run/docker",
    "--pidfile=/run/docker.pid",
    // Instead of the machine's own configuration.
    `--config-file=${directory}/daemon.json`,
    "--exec-opt=native.cgroupdriver=cgroupfs",
    `--cgroup-parent=${name}`,
    "--log-level=warn",
    // About a fifth of the time of a start: no test looks at filters of packets or system calls.
    "--iptables=false",
    `--seccomp-profile=${directory}/seccomp.json`,
    ...args,
  ]);
}

const EVERY_SYSTEM_CALL = '{"defaultAction":"SCMP_ACT_ALLOW"}';

/**
 * Limits that Podman sets on every container. On most hosts it does so by itself, but not where it
 * may not raise them, as in a container without `CAP_SYS_RESOURCE`.
 */
const PODMAN_CONFIG =
  '[containers]\ndefault_ulimits = ["nofile=16384:16384", "nproc=32768:32768"]\n';

/** Engines and what they start for each container live too shortly to need their memory back. */
const SELDOM_COLLECT = "GOGC=400";

/** Starts a Podman engine in its own sandbox, with {@linkcode BUSYBOX}. */
export function startPodman(): Promise<OwnEngine> {
  return startEngine("podman", ({ directory }, socketPath) => [
    ...["env", SELDOM_COLLECT],
    `CONTAINERS_CONF=${directory}/containers.conf`,
    "podman",
    `--root=${directory}/data/podman`,
    "--runroot=/run/podman",
    "--cgroup-manager=cgroupfs",
    "system",
    "service",
    "--time=0",
    `unix://${socketPath}`,
  ]);
}

/** Environment by which tests in another process find `engine` and `podman`. */
export function environmentOf(
  { socketPath, sandbox }: RealEngine,
  podman?: RealEngine,
): Record<string, string> {
  return {
    [SOCKET_VARIABLE]: `unix://${socketPath}`,
    [SANDBOX_VARIABLE]: sandbox ? JSON.stringify(sandbox) : "",
    ...(podman && { [PODMAN_VARIABLE]: podman.socketPath }),
  };
}

/** Whether skipped tests are a failure. */
export function isEngineRequired(): boolean {
  return Deno.env.get(REQUIRE_VARIABLE) === "1";
}

/**
 * The socket of the machine's own running Docker engine, or `undefined`. Tests may only add objects
 * to it and remove them again.
 */
export async function findEngine(): Promise<RealEngine | undefined> {
  if (missingProgram("docker", "busybox", "tar")) return undefined;
  for (const path of machineSockets()) {
    if (!await answers(path)) continue;
    const engine = engineAt("docker", path);
    const name = await engine.docker("version", "--format", "{{json .Server}}").catch(() => "");
    if (!name.includes("Podman")) return engine;
  }
  return undefined;
}

/** Creates {@linkcode BUSYBOX} on the engine from the machine's `busybox` program. */
export async function importBusybox(engine: RealEngine): Promise<void> {
  const { success, stderr } = await new Deno.Command("sh", {
    args: ["-euc", MAKE_IMAGE, "sh", BUSYBOX],
    env: commandEnvironment(engine.socketPath),
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(`No test image: ${new TextDecoder().decode(stderr)}`);
}

// A dynamic busybox could not run in an image without its libraries. The engine creates "/dev/shm"
// and similar paths.
const MAKE_IMAGE = `
  program=$(command -v busybox)
  if ldd "$program" > /dev/null 2>&1; then
    echo "$program is not static, install the package busybox-static" >&2
    exit 1
  fi
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
  mkdir "$folder/bin" "$folder/etc" "$folder/tmp" "$folder/www"
  cp "$program" "$folder/bin/busybox"
  for applet in $("$program" --list); do
    [ "$applet" = busybox ] || ln -s busybox "$folder/bin/$applet"
  done
  echo root:x:0:0:root:/:/bin/sh > "$folder/etc/passwd"
  echo root:x:0: > "$folder/etc/group"
  tar -C "$folder" -c . | docker import --change 'CMD ["sh"]' - "$1"`;

async function startEngine(
  kind: RealEngine["kind"],
  command: (sandbox: Sandbox, socketPath: string) => string[],
): Promise<OwnEngine> {
  await using stack = new AsyncDisposableStack();
  const sandbox = stack.use(await openSandbox());
  const socketPath = `${sandbox.directory}/engine.sock`;
  await Deno.writeTextFile(`${sandbox.directory}/daemon.json`, "{}");
  await Deno.writeTextFile(`${sandbox.directory}/seccomp.json`, EVERY_SYSTEM_CALL);
  await Deno.writeTextFile(`${sandbox.directory}/containers.conf`, PODMAN_CONFIG);
  const start = () =>
    startDaemon(sandbox, kind, command(sandbox, socketPath), () => answers(socketPath));

  let daemon: Daemon = await start();
  stack.defer(() => daemon[Symbol.asyncDispose]());
  const engine = engineAt(kind, socketPath);
  await importBusybox(engine);

  const end = async (signal: string) => {
    await daemon.signal(signal);
    await daemon.ended;
    // Docker's containerd ends a moment later. A daemon that starts before that would try to use it.
    const isGone = `! kill -0 "$(cat /run/docker/containerd/containerd.pid)"`;
    await until("containerd is gone", async () => {
      await runInside(sandbox, ["sh", "-c", isGone]);
      return true;
    });
  };
  const all = stack.move();
  return {
    ...engine,
    sandbox: { pid: sandbox.pid, directory: sandbox.directory, name: sandbox.name },
    kill: () => end("KILL"),
    stop: () => end("TERM"),
    async restart() {
      daemon = await start();
    },
    async freeze() {
      await daemon.signal("STOP");
      return { [Symbol.asyncDispose]: () => daemon.signal("CONT") };
    },
    log: () => daemon.log(),
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** The engine of this run, or a new one if the test file was started directly. */
async function openEngine(): Promise<{ engine: RealEngine } & AsyncDisposable> {
  const shared = sharedEngine();
  if (shared) return { engine: shared, async [Symbol.asyncDispose]() {} };
  if (!dockerdObstacle()) {
    const engine = await startDockerd();
    return { engine, [Symbol.asyncDispose]: () => engine[Symbol.asyncDispose]() };
  }
  const engine = await findEngine();
  if (!engine) throw new Error(engineObstacle() ?? "No container engine answers");
  await importBusybox(engine);
  return {
    engine,
    async [Symbol.asyncDispose]() {
      await engine.docker("rmi", BUSYBOX);
    },
  };
}

function sharedEngine(): RealEngine | undefined {
  const socketPath = Deno.env.get(SOCKET_VARIABLE)?.replace("unix://", "");
  if (!socketPath) return undefined;
  const sandbox = Deno.env.get(SANDBOX_VARIABLE);
  return engineAt("docker", socketPath, sandbox ? JSON.parse(sandbox) : undefined);
}

function engineAt(kind: RealEngine["kind"], socketPath: string, sandbox?: Sandbox): RealEngine {
  const docker = (...args: string[]) => runDocker(socketPath, args);
  return {
    kind,
    socketPath,
    ...(sandbox && { sandbox }),
    docker,
    async runContainer({ name, labels = {}, command, options = [], network } = {}) {
      const isLabelled = Object.keys(labels).length > 0;
      if (!isLabelled && !options.some((each) => NEEDS_NETWORK.test(each))) network ??= "host";
      name ??= `longshore-test-${crypto.randomUUID().slice(0, 8)}`;
      const id = await docker(
        "run",
        "--detach",
        `--name=${name}`,
        ...network === undefined ? [] : [`--network=${network}`],
        ...Object.entries(labels).map(([label, value]) => `--label=${label}=${value}`),
        ...options,
        BUSYBOX,
        ...command ?? SLEEP,
      );
      if (!command) await untilReady(socketPath, id);
      return {
        id,
        name,
        [Symbol.asyncDispose]: () => removeContainer(socketPath, id),
      };
    },
  };
}

/** Without the command line, which takes 20 ms of the processor. */
async function removeContainer(socketPath: string, id: string): Promise<void> {
  using client = clientOf(socketPath);
  const response = await fetch(`http://engine/containers/${id}?force=1&v=1`, {
    method: "DELETE",
    client,
    signal: AbortSignal.timeout(COMMAND_MAX_MS),
  });
  const text = await response.text();
  if (response.ok || /no such container|in progress/i.test(text)) return;
  throw new Error(`The container ${id} cannot be removed: ${text}`);
}

const clientOf = (socketPath: string) =>
  Deno.createHttpClient({ proxy: { transport: "unix", path: socketPath } });

/** Reads a container's output until it says so: asking again and again would start many programs. */
async function untilReady(socketPath: string, id: string): Promise<void> {
  using client = clientOf(socketPath);
  const url = `http://engine/containers/${id}/logs?stdout=1&follow=1`;
  const signal = AbortSignal.timeout(COMMAND_MAX_MS);
  const { body } = await fetch(url, { client, signal });
  const decoder = new TextDecoder();
  let output = "";
  for await (const bytes of body!) {
    output += decoder.decode(bytes, { stream: true });
    if (output.includes("ready")) return;
  }
  throw new Error(`The container ${id} has ended before it was ready: ${output}`);
}

async function runDocker(socketPath: string, args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("docker", {
    args,
    env: commandEnvironment(socketPath),
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    signal: AbortSignal.timeout(COMMAND_MAX_MS),
  }).output();
  if (success) return new TextDecoder().decode(stdout).trimEnd();
  throw new Error(`docker ${args.join(" ")} failed: ${new TextDecoder().decode(stderr)}`);
}

/** Ignores the user's settings of the command line (contexts, credentials). */
function commandEnvironment(socketPath: string): Record<string, string> {
  return { DOCKER_HOST: `unix://${socketPath}`, DOCKER_CONFIG: "/nonexistent" };
}

/** Whether an engine answers at the socket. */
async function answers(socketPath: string): Promise<boolean> {
  let connection: Deno.UnixConn;
  try {
    connection = await Deno.connect({ transport: "unix", path: socketPath });
  } catch {
    return false;
  }
  const limit = setTimeout(() => connection.close(), 5_000);
  try {
    await connection.write(new TextEncoder().encode("GET /_ping HTTP/1.0\r\nhost: engine\r\n\r\n"));
    const bytes = new Uint8Array(1024);
    const length = await connection.read(bytes) ?? 0;
    connection.close();
    return new TextDecoder().decode(bytes.subarray(0, length)).startsWith("HTTP/1.0 200");
  } catch {
    return false;
  } finally {
    clearTimeout(limit);
  }
}

function machineSockets(): string[] {
  const runtime = Deno.env.get("XDG_RUNTIME_DIR");
  return [
    Deno.env.get("DOCKER_HOST")?.match(/^unix:\/\/(.+)/)?.[1],
    "/var/run/docker.sock",
    runtime && `${runtime}/docker.sock`,
  ].filter((path): path is string => Boolean(path));
}

/** Checks quickly, without asking the engine; `tests/run.ts` does that. */
function engineObstacle(): string | undefined {
  if (sharedEngine() || !dockerdObstacle()) return undefined;
  const missing = missingProgram("docker", "busybox", "tar");
  if (missing) return missing;
  const exists = machineSockets().some((path) => {
    try {
      return Deno.statSync(path).isSocket;
    } catch {
      return false;
    }
  });
  return exists
    ? undefined
    : `no container engine found, and none can be started: ${dockerdObstacle()}`;
}

/** Private engines have a sandbox, which registries for tests need. */
function privateEngineObstacle(): string | undefined {
  const shared = sharedEngine();
  if (shared && !shared.sandbox) return "the engine is not private";
  return (shared ? undefined : dockerdObstacle()) ?? missingProgram("docker-registry");
}

function register(name: string, obstacle: string | undefined, run: () => Promise<void>): void {
  Deno.test({
    name,
    ignore: obstacle !== undefined && !isEngineRequired(),
    async fn() {
      if (obstacle) throw new Error(obstacle);
      await run();
    },
  });
}
