/**
 * Linux namespaces for the daemons of a test, with their own network, process ids and mounts. Several
 * can exist at the same time. They are isolated from the machine, and all of their processes end with
 * the process that opened them, however it ends.
 *
 * @module
 */

import { until } from "./until.ts";

/** Namespaces for daemons; see `openSandbox()`. */
export interface Sandbox {
  /** Process id of its first process, outside of the namespace. */
  pid: number;
  /** Has the same path inside and outside: for sockets, configurations, logs. */
  directory: string;
  /** Also the name of the control group that engines put their containers into. */
  name: string;
}

/** A program that runs in a sandbox until it is disposed. */
export interface Daemon extends AsyncDisposable {
  /** Resolves when the program has ended for any reason. */
  ended: Promise<void>;
  /** Sends a signal to the program itself, e.g. `KILL`, `CONT`; after `STOP` waits for the stop. */
  signal(name: string): Promise<void>;
  /** The last part of the program's output. */
  log(): Promise<string>;
}

/** Set by `tests/run.ts`: why a sandbox could not be opened although it seemed possible. */
export const OBSTACLE_VARIABLE = "LONGSHORE_TEST_SANDBOX_OBSTACLE";

const PREFIX = "longshore-test-";

// The first process of the namespaces ends with its standard input, that is with our process; the
// kernel then ends every other process in them. Its `wait` also collects orphans. What daemons
// write goes to a memory file system that goes with the namespaces, also what they write to /etc
// and /var; /run is empty, so that none meets sockets, locks or state of the machine's own. `dpkg`
// cannot run, because Podman asks it four times whenever it is asked for its version. At the end it
// thaws paused containers: a frozen process does not end, and the kernel waits for it.
const FIRST_PROCESS = `
  read -r pid rest < /proc/self/stat
  mount -t proc proc /proc
  mount -t tmpfs tmpfs /run
  mkdir "$1/data"
  mount -t tmpfs tmpfs "$1/data"
  for folder in etc var root; do
    mkdir -p "$1/data/$folder" "$1/data/overlay/$folder"
    mount -t overlay overlay "/$folder" \\
      -o "lowerdir=/$folder,upperdir=$1/data/$folder,workdir=$1/data/overlay/$folder"
  done
  [ ! -e /usr/bin/dpkg ] || mount --bind /dev/null /usr/bin/dpkg
  busybox ip link set lo up
  exec 3<&0
  cat <&3 > /dev/null &
  echo "pid $pid"
  wait
  find /sys/fs/cgroup -path "*/\${1##*/}*" \\( -name freezer.state -o -name cgroup.freeze \\) |
    while read -r file; do
      case $file in
        *.state) echo THAWED > "$file" ;;
        *) echo 0 > "$file" ;;
      esac
    done`;

// Runs in a mount namespace of its own. First control groups are mounted where they are not: with
// version 1 every hierarchy that the kernel has, because engines fail over one that is listed but
// not mounted. Then it waits for the namespaces to end, and removes what the kernel keeps beyond
// that: the directory and the (then empty) control groups. "libpod_parent" is where Podman puts its
// own; it stays if anything else uses it.
const KEEPER = `
  if [ "$(stat -f -c %T /sys/fs/cgroup)" = cgroup2fs ]; then
    :
  elif ! grep -qv ^0: /proc/self/cgroup; then
    mount -t cgroup2 cgroup2 /sys/fs/cgroup
  else
    mount -t tmpfs tmpfs /sys/fs/cgroup
    while IFS=: read -r number controllers path; do
      name=\${controllers#name=}
      folder=/sys/fs/cgroup/\${name:-unified}
      mkdir "$folder"
      if [ -z "$controllers" ]; then
        mount -t cgroup2 cgroup2 "$folder"
        continue
      fi
      mount -t cgroup -o "$controllers" cgroup "$folder"
      for controller in $(echo "$controllers" | tr , " "); do
        [ -e "/sys/fs/cgroup/$controller" ] || ln -s "$controllers" "/sys/fs/cgroup/$controller"
      done
    done < /proc/self/cgroup
  fi
  unshare --mount --net --pid --ipc --fork --kill-child -- sh -euc "$1" sh "$2"
  for attempt in 1 2 3 4 5; do
    find /sys/fs/cgroup -depth -type d -path "*/$3*" -exec rmdir {} + 2> /dev/null && break
    sleep 0.1
  done
  find /sys/fs/cgroup -depth -type d -path "*/libpod_parent*" -exec rmdir {} + 2> /dev/null
  rm -rf "$2"`;

/** Why a sandbox is not possible on this machine, or `undefined`. */
export function sandboxObstacle(): string | undefined {
  const known = Deno.env.get(OBSTACLE_VARIABLE);
  if (known) return known;
  if (Deno.build.os !== "linux") return "namespaces need Linux";
  if (Deno.uid() !== 0) return "namespaces need root";
  return missingProgram("unshare", "nsenter", "busybox");
}

/** E.g. `"dockerd is not installed"`. */
export function missingProgram(...programs: string[]): string | undefined {
  const missing = programs.find((program) => !isInstalled(program));
  return missing && `${missing} is not installed`;
}

/**
 * Opens a sandbox. Disposing it ends everything in it, as does the end of this process.
 *
 * @throws {Error} Where the kernel or missing rights do not allow it.
 */
export async function openSandbox(): Promise<Sandbox & AsyncDisposable> {
  // Not TMPDIR: it may be below /var, and socket paths are limited to 107 bytes.
  const directory = await Deno.makeTempDir({ dir: "/tmp", prefix: PREFIX });
  const name = directory.slice(directory.lastIndexOf(PREFIX));
  const keeper = new Deno.Command("unshare", {
    args: ["--mount", "sh", "-c", KEEPER, "sh", FIRST_PROCESS, directory, name],
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
    // A separate session: Ctrl-C must reach only us, so that the cleanup process survives it.
    detached: true,
  }).spawn();

  const close = async () => {
    await keeper.stdin.close().catch(() => {});
    await keeper.status;
    await keeper.stdout.cancel().catch(() => {});
  };
  const first = await firstText(keeper.stdout);
  const pid = Number(/^pid (\d+)/.exec(first)?.[1]);
  if (!pid) {
    await close();
    throw new Error("Namespaces for the test's daemons could not be created");
  }
  return { pid, directory, name, [Symbol.asyncDispose]: close };
}

/**
 * Starts a program in the sandbox and waits until it is `ready`. What it writes goes to
 * `<directory>/<name>.log`, its process number (as numbered inside) to `<directory>/<name>.pid`.
 *
 * @throws {Error} When it ends or is not ready in time, with the end of its log.
 */
export async function startDaemon(
  sandbox: Sandbox,
  name: string,
  command: string[],
  ready: () => Promise<boolean>,
): Promise<Daemon> {
  const [pidPath, logPath] = [
    `${sandbox.directory}/${name}.pid`,
    `${sandbox.directory}/${name}.log`,
  ];
  const script = `echo $$ > "$1"; log=$2; shift 2; exec "$@" >> "$log" 2>&1`;
  await Deno.remove(pidPath).catch(() => {});
  const process = inside(sandbox, ["sh", "-c", script, "sh", pidPath, logPath, ...command]).spawn();

  let hasEnded = false;
  const ended = process.status.then(() => void (hasEnded = true));
  const log = async () => (await Deno.readTextFile(logPath).catch(() => "")).slice(-2000);
  const signal = async (name: string) => {
    const number = (await Deno.readTextFile(pidPath)).trim();
    await runInside(sandbox, ["kill", "-s", name, number]);
    // Threads stop one after the other; the last ones may still answer.
    if (name === "STOP") await until("every thread stops", () => isStopped(sandbox, number));
    // A stopped program stops its nsenter as well, and that one only wakes from outside.
    if (name === "CONT" || name === "KILL") wake(process);
  };
  const end = async () => {
    if (!hasEnded) await signal("KILL").catch(() => {});
    wake(process);
    await ended;
  };

  try {
    await until(`${name} is ready`, async () => {
      return hasEnded || (await Deno.stat(pidPath)).isFile && await ready();
    });
    if (hasEnded) throw new Error(`${name} ended at once`);
  } catch (cause) {
    await end();
    throw new Error(`${name} did not start: ${await log()}`, { cause });
  }
  return { ended, signal, log, [Symbol.asyncDispose]: end };
}

/**
 * Runs a command in the sandbox.
 *
 * @returns Its standard output.
 * @throws {Error} If it fails, with its standard error.
 */
export async function runInside(sandbox: Sandbox, command: string[]): Promise<string> {
  const { success, stdout, stderr } = await inside(sandbox, command, "piped").output();
  if (success) return new TextDecoder().decode(stdout);
  throw new Error(`${command.join(" ")} failed: ${new TextDecoder().decode(stderr)}`);
}

function inside(
  { pid, directory }: Sandbox,
  command: string[],
  output: "piped" | "null" = "null",
): Deno.Command {
  return new Deno.Command("nsenter", {
    args: [
      `--target=${pid}`,
      "--mount",
      "--net",
      "--pid",
      "--ipc",
      `--wd=${directory}`,
      ...command,
    ],
    stdin: "null",
    stdout: output,
    stderr: output,
  });
}

async function isStopped(sandbox: Sandbox, number: string): Promise<boolean> {
  const script = `grep -h ^State: /proc/${number}/task/*/status`;
  const states = (await runInside(sandbox, ["sh", "-c", script])).trimEnd().split("\n");
  return states.every((state) => /^State:\s+T/.test(state));
}

function wake(process: Deno.ChildProcess): void {
  try {
    process.kill("SIGCONT");
  } catch {
    // Already ended.
  }
}

async function firstText(stream: ReadableStream<Uint8Array>): Promise<string> {
  const reader = stream.getReader();
  const { value } = await reader.read();
  reader.releaseLock();
  return new TextDecoder().decode(value);
}

function isInstalled(program: string): boolean {
  return (Deno.env.get("PATH") ?? "").split(":").some((folder) => {
    try {
      return Deno.statSync(`${folder}/${program}`).isFile;
    } catch {
      return false;
    }
  });
}
