/**
 * A host for the installer: this machine's programs with an /etc, /var, /usr/local and /run of its
 * own, in a sandbox. systemd is a stand-in that keeps the state of the one unit in files and runs the
 * unit's steps before and after a start, as `tests/deploy/update_trial_test.ts` does;
 * `deploy/release/first_page.ts` installs with the real one.
 *
 * @module
 */

import { programCommand } from "./program.ts";
import { openSandbox, runInside, type Sandbox } from "./sandbox.ts";
import { createKey, signText, type SshKey } from "./ssh_keys.ts";
import { writeServiceFiles, writeSums } from "../../deploy/release/release.ts";
import { VERSION } from "../../services/version.ts";

/** Programs that change something, or decide about it. */
const STEPS = "cp mv rm mkdir rmdir install chmod grep sha256sum ssh-keygen curl useradd userdel " +
  "groupadd groupdel systemctl";

/** Folders that the installer may change. */
const SNAPSHOT = `
  cd /
  folders="etc/longshore etc/systemd usr/local var/lib/longshore var/cache var/tmp"
  find $folders -printf '%p %y %m %u %g\\n' 2>/dev/null | sort
  find $folders -type f -path '*longshore*' -exec sha256sum {} + 2>/dev/null | sort
  grep -h -E '^(longshore|docker):' /etc/passwd /etc/group /etc/shadow /etc/gshadow || true`;

// The real commands are found behind the first directory of the path. A step counts itself; at the
// chosen one it signals the script and goes on. After Ctrl-C (SIGINT) it does not, unless the script
// ignores that signal. A run has dozens of steps, so that a step starts no other program.
const STEP = `#!/bin/sh
name=\${0##*/}
read -r number <"$STEPS/count"
number=$((number + 1))
echo "$number" >"$STEPS/count"
echo "$name $*" >>"$STEPS/log"
read -r stop_at signal <"$STEPS/stop"
if [ "$number" = "$stop_at" ]; then
  read -r pid <"$STEPS/pid"
  kill -s "$signal" "$pid"
  [ "$signal" != INT ] || kill -s INT $$
fi
PATH=\${PATH#*:}
[ "$name" != systemctl ] || exec "$STEPS/systemd" "$@"
exec "$name" "$@"
`;

const SYSTEMD = `#!/bin/sh
trial=/usr/local/lib/longshore/update-trial
wanted=/etc/systemd/system/multi-user.target.wants/longshore.service
active=/run/longshore-is-active
program=/usr/local/bin/longshore
export STATE_DIRECTORY=/var/lib/longshore
begin() {
  for attempt in 1 2 3; do
    "$trial" count "$program" && "$trial" prepare "$program" && "$program" serve &&
      "$trial" ready "$program" && touch "$active" && return
    [ -e "$program.trial" ] || [ -e "$program.returned" ] || return 1
  done
}
case $1 in
  daemon-reload) ;;
  enable) ln -sf /etc/systemd/system/longshore.service "$wanted" ;;
  is-enabled) [ -e "$wanted" ] ;;
  is-active) [ -e "$active" ] ;;
  start) begin || { echo "Job for longshore.service failed." >&2; exit 1; } ;;
  restart) rm -f "$active" && begin ;;
  stop) rm -f "$active" ;;
  disable) rm -f "$wanted" "$active" ;;
  *) exit 64 ;;
esac
`;

/** Result of a run of the script. */
export interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/** Lines of one snapshot that the other one lacks. */
export function differences(before: string, after: string): string[] {
  const [old, present] = [before, after].map((text) => text.trimEnd().split("\n"));
  return [
    ...old!.filter((line) => !present!.includes(line)).map((line) => `- ${line}`),
    ...present!.filter((line) => !old!.includes(line)).map((line) => `+ ${line}`),
  ];
}

/** Interruption of a run: the number of the step, and the signal. */
export interface Stop {
  at: number;
  signal: "TERM" | "INT" | "KILL";
}

/** A host, and a directory with a release for it. */
export type ServiceHost = Awaited<ReturnType<typeof openServiceHost>>;

/** Opens a host. It needs root. */
export async function openServiceHost() {
  const sandbox = await openSandbox();
  const at = (name: string) => `${sandbox.directory}/${name}`;
  await prepare(sandbox, at);
  const key = await createKey(sandbox.directory);
  const inside = (script: string) => runInside(sandbox, ["sh", "-c", script]);
  return {
    sandbox,
    key,
    inside,
    /** Prints all that the installer may change. */
    snapshot: () => inside(SNAPSHOT),
    /** Runs the script of a release, from its standard input as `curl | sh` does. */
    run: (release: string, args: string[] = [], stop?: Stop) =>
      runScript(sandbox, { release: at(release), args, ...(stop && { stop }) }),
    /** The steps of the last run. */
    steps: async () => (await Deno.readTextFile(at("steps/log"))).trimEnd().split("\n"),
    release: (name: string, wanted?: Wanted) => writeRelease(at(name), key, wanted),
    [Symbol.asyncDispose]: () => sandbox[Symbol.asyncDispose](),
  };
}

async function prepare(sandbox: Sandbox, at: (name: string) => string): Promise<void> {
  await Deno.mkdir(at("steps/bin"), { recursive: true });
  await Deno.writeTextFile(at("steps/systemd"), SYSTEMD, { mode: 0o755 });
  for (const name of STEPS.split(" ")) {
    await Deno.writeTextFile(at(`steps/bin/${name}`), STEP, { mode: 0o755 });
  }
  // Absolute paths: the sandbox's own mounts are not seen from the directory it is entered in.
  const script = `
    mkdir ${at("data/local")} ${at("data/overlay/local")}
    mount -t overlay overlay /usr/local -o \\
      lowerdir=/usr/local,upperdir=${at("data/local")},workdir=${at("data/overlay/local")}
    mount -t tmpfs tmpfs /var/tmp
    mkdir -p /run/systemd/system /etc/systemd/system/multi-user.target.wants
    ! getent passwd longshore || userdel longshore
    ! getent group docker || groupdel docker
    rm -rf /usr/local/bin/longshore* /usr/local/lib/longshore /etc/longshore /var/lib/longshore`;
  await runInside(sandbox, ["sh", "-euc", script]);
}

async function runScript(
  sandbox: Sandbox,
  { release, args, stop }: { release: string; args: string[]; stop?: Stop },
): Promise<Run> {
  const steps = `${sandbox.directory}/steps`;
  const files = { count: "0\n", log: "", stop: `${stop?.at} ${stop?.signal}\n` };
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${steps}/${name}`, text);
  }
  const script =
    `echo $$ >"$STEPS/pid"; release=$1; shift; exec sh -s -- "$@" <"$release/install.sh"`;
  const { code, stdout, stderr } = await new Deno.Command("nsenter", {
    args: [
      `--target=${sandbox.pid}`,
      ...["--mount", "--net", "--pid", "--ipc", `--wd=${sandbox.directory}`],
      ...["sh", "-c", script, "sh", release, ...args],
    ],
    clearEnv: true,
    env: { PATH: `${steps}/bin:/usr/sbin:/usr/bin:/sbin:/bin`, STEPS: steps, HOME: "/root" },
    stdin: "null",
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: decode(stdout), stderr: decode(stderr) };
}

/** A release that differs from a good one. */
export interface Wanted {
  version?: string;
  /** The program that is installed; default: {@linkcode program}. */
  executable?: string;
  /** Changes files after the checksums were signed. */
  damage?: (directory: string) => Promise<void>;
  /** Address in the script. */
  url?: string;
}

/**
 * A program that says its version and starts with success. Its `self-update` is that of the program
 * under test, for this path.
 */
export function program(version: string, { serve = "exit 0" } = {}): string {
  return `#!/bin/sh
case $1 in
  version) echo "longshore ${version} (deno, x)" ;;
  serve) ${serve} ;;
  backup | restore) ;;
  *) exec ${realProgram()} "$@" ;;
esac
`;
}

/** The program under test as words of a shell. */
function realProgram(): string {
  const runtime = `LONGSHORE_RUNTIME_DIR=${Deno.env.get("LONGSHORE_RUNTIME_DIR") ?? ""}`;
  return ["env", runtime, ...programCommand([])].map((word) => `'${word}'`).join(" ");
}

/** For `serve`: starts the service itself, as root, and returns when it is ready. */
export function serveReally(): string {
  return `
    chown root: "$STATE_DIRECTORY"
    set -a && . /etc/longshore/longshore.env && set +a
    ${realProgram()} serve </dev/null >/dev/null 2>&1 &
    curl -fs -o /dev/null --retry 100 --retry-delay 1 --retry-connrefused \\
      "http://127.0.0.1:$PORT/health"`;
}

async function writeRelease(
  directory: string,
  key: SshKey,
  { version = VERSION, executable = program(version), damage, url = "" }: Wanted = {},
): Promise<void> {
  await Deno.mkdir(directory);
  await writeServiceFiles(directory, { version, url, keys: [key.publicKey] });
  await Deno.writeTextFile(`${directory}/longshore-${version}-${Deno.build.target}`, executable);
  await writeSums(directory);
  const sums = await Deno.readTextFile(`${directory}/SHA256SUMS`);
  await Deno.writeTextFile(`${directory}/SHA256SUMS.sig`, await signText(key, sums));
  await damage?.(directory);
}
