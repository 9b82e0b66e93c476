/**
 * A bare Debian with systemd as its first process, in namespaces of its own: only the network is that
 * of the caller. It serves a release to itself: `dist/longshore`, signed with a new key.
 *
 * Needs root, `unshare`, `ssh-keygen` and `busybox`.
 *
 * @module
 */

import manifest from "../../deno.json" with { type: "json" };
import { run } from "../../deploy/release/programs.ts";
import { sign, writeServiceFiles, writeSums } from "../../deploy/release/release.ts";
import { until } from "./until.ts";

const PACKAGES = "systemd,openssh-client,curl,ca-certificates";

const PORT = 8080;
const RELEASE = `http://127.0.0.1:${PORT}`;

/** Longest start of systemd, in milliseconds. */
const BOOT_MS = 60_000;

// $1: root file system, $2: empty directory for what changes, $3: files of the release, $4: socket of
// an engine, $5: directory of the host that is there, too. The control groups are those of systemd
// alone, without controllers.
const BOOT = `
  mount --make-rprivate /
  mount -t tmpfs tmpfs "$2"
  mkdir "$2/upper" "$2/overlay" "$2/root"
  mount -t overlay overlay "$2/root" -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/overlay"
  cd "$2/root"
  mkdir -p proc sys run tmp dev srv .old
  mount -t proc proc proc
  mount -t sysfs -o ro sysfs sys
  for folder in run tmp dev; do mount -t tmpfs tmpfs $folder; done
  for name in null zero full random urandom tty; do
    touch dev/$name
    mount --bind /dev/$name dev/$name
  done
  ln -s /proc/self/fd dev/fd
  mkdir dev/shm dev/pts
  mount -t devpts -o newinstance,ptmxmode=666 devpts dev/pts
  ln -s pts/ptmx dev/ptmx
  mount -t tmpfs tmpfs sys/fs/cgroup
  if grep -q name=systemd /proc/self/cgroup; then
    mkdir sys/fs/cgroup/systemd
    mount -t cgroup -o none,name=systemd cgroup sys/fs/cgroup/systemd
  else
    umount sys/fs/cgroup
    mount -t cgroup2 cgroup2 sys/fs/cgroup
  fi
  mount --bind "$3" srv
  touch run/docker.sock
  mount --bind "$4" run/docker.sock
  mkdir -p ".$5"
  mount --bind "$5" ".$5"
  busybox httpd -p ${RELEASE.replace("http://", "")} -h "$PWD/srv"
  pivot_root . .old
  umount -l /.old
  container=longshore exec /lib/systemd/systemd systemd.unit=multi-user.target`;

const root = new URL("../../", import.meta.url).pathname;

if (import.meta.main) await makeDebian();

export interface BareDebian extends AsyncDisposable {
  /** The line that installs the release. */
  line: string;
  /** Runs a script as root. @returns Its output. */
  run(script: string): Promise<string>;
}

/**
 * @param socket Socket of an engine, which is `/run/docker.sock` there.
 * @param shared Directory of the host that has the same path there.
 */
export async function startDebian(socket: string, shared: string): Promise<BareDebian> {
  await using stack = new AsyncDisposableStack();
  const work = await Deno.makeTempDir({ dir: "/tmp", prefix: "longshore-debian-" });
  stack.defer(() => Deno.remove(work, { recursive: true }));
  for (const name of ["release", "changes"]) await Deno.mkdir(`${work}/${name}`);
  await writeRelease(`${work}/release`, `${work}/key`);
  const namespaces = ["--mount", "--pid", "--uts", "--ipc", "--cgroup"];
  const keeper = new Deno.Command("unshare", {
    args: [
      ...[...namespaces, "--fork", "--kill-child", "sh", "-euc", BOOT, "sh"],
      ...[await makeDebian(), `${work}/changes`, `${work}/release`, socket, shared],
    ],
    stdin: "null",
    stdout: "null",
  }).spawn();
  stack.defer(async () => {
    keeper.kill("SIGKILL");
    await keeper.status;
  });
  const inside = (script: string) => runIn(keeper.pid, script);
  await until("systemd has started", async () => {
    const state = await inside("systemctl is-system-running --wait || true").catch(String);
    // A unit that needs a terminal or a device fails here.
    return /^(running|degraded)$/.test(state);
  }, { deadlineMs: BOOT_MS });
  const resources = stack.move();
  return {
    line: `curl -fsSL ${RELEASE}/install.sh | sh`,
    run: inside,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** @returns The root file system, which nothing changes. It is made once, from the mirror. */
async function makeDebian(): Promise<string> {
  const directory = `${root}dist/debian`;
  if (!await Deno.stat(`${directory}/etc/debian_version`).then(() => true, () => false)) {
    console.log(`Making a Debian in ${directory}`);
    const options = ["--variant=minbase", `--include=${PACKAGES}`, "bookworm"];
    await run("debootstrap", [...options, directory]);
  }
  return directory;
}

async function writeRelease(directory: string, key: string): Promise<void> {
  const { version } = manifest;
  await run("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", key]);
  const keys = [await Deno.readTextFile(`${key}.pub`)];
  await Deno.copyFile(
    `${root}dist/longshore`,
    `${directory}/longshore-${version}-${Deno.build.target}`,
  );
  await writeServiceFiles(directory, { version, url: RELEASE, keys });
  await writeSums(directory);
  await sign(`${directory}/SHA256SUMS`, key);
}

/** Runs a script as root in the namespaces of the child of a process. */
async function runIn(parent: number, script: string): Promise<string> {
  const pid = (await Deno.readTextFile(`/proc/${parent}/task/${parent}/children`)).trim();
  return await run("nsenter", [`--target=${pid}`, "--all", "sh", "-euc", script]);
}
