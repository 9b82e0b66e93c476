/**
 * Measures the way of a newcomer: the time from the line that installs Longshore to the setup page, on
 * a bare Debian with systemd as its first process, in namespaces of its own. The release is
 * `dist/longshore`, signed with a new key and served on the loopback of that Debian.
 *
 *     deno task first-page [ROOT]
 *
 * Needs root, `unshare`, `ssh-keygen` and `busybox`. ROOT is the root file system, which is not
 * changed; without it `debootstrap` makes one in `dist/debian`, once.
 *
 * @module
 */

import manifest from "../../deno.json" with { type: "json" };
import { ReleaseError, run } from "./programs.ts";
import { sign, writeServiceFiles, writeSums } from "./release.ts";

/** Limit from the line to the page, in seconds. */
const LIMIT_S = 20;

const PACKAGES = "systemd,openssh-client,curl,ca-certificates";

const PORT = 8080;
const RELEASE = `http://127.0.0.1:${PORT}`;

/** Longest start of systemd, in milliseconds. */
const BOOT_MS = 60_000;

const POLL_MS = 100;

// $1: root file system, $2: empty directory for what changes, $3: files of the release. The control
// groups are those of systemd alone, without controllers.
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
  busybox ip link set lo up
  busybox httpd -p ${RELEASE.replace("http://", "")} -h "$PWD/srv"
  pivot_root . .old
  umount -l /.old
  container=longshore exec /lib/systemd/systemd systemd.unit=multi-user.target`;

const root = new URL("../../", import.meta.url).pathname;

if (import.meta.main) {
  const work = await Deno.makeTempDir({ prefix: "longshore-first-page-" });
  try {
    for (const name of ["release", "changes"]) await Deno.mkdir(`${work}/${name}`);
    const debian = Deno.args[0] ?? await makeDebian(`${root}dist/debian`);
    await writeRelease(`${work}/release`, `${work}/key`);
    const seconds = await install(await Deno.realPath(debian), work);
    console.log(`${seconds.toFixed(1)} s from the line to the setup page; limit: ${LIMIT_S} s`);
    if (seconds > LIMIT_S) Deno.exitCode = 1;
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

async function makeDebian(directory: string): Promise<string> {
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

/** @returns Seconds from the line to the page. */
async function install(debian: string, work: string): Promise<number> {
  const namespaces = ["--mount", "--pid", "--net", "--uts", "--ipc", "--cgroup"];
  const keeper = new Deno.Command("unshare", {
    args: [
      ...[...namespaces, "--fork", "--kill-child", "sh", "-euc", BOOT, "sh"],
      ...[debian, `${work}/changes`, `${work}/release`],
    ],
    stdin: "null",
    stdout: "null",
  }).spawn();
  try {
    const inside = (script: string) => runIn(keeper.pid, script);
    await isBooted(inside);
    const start = performance.now();
    const output = await inside(`curl -fsSL ${RELEASE}/install.sh | sh`);
    const address = /^Set up: open (\S+)$/m.exec(output)?.[1];
    if (address === undefined) throw new ReleaseError(`No address of a setup: ${output}`);
    const page = await inside(
      `curl -fsS ${address} && curl -fsS ${new URL("/auth/setup", address)}`,
    );
    const seconds = (performance.now() - start) / 1000;
    if (!page.includes('"required":true')) throw new ReleaseError(`No setup: ${page.slice(-200)}`);
    console.log(output);
    return seconds;
  } finally {
    keeper.kill("SIGKILL");
    await keeper.status;
  }
}

async function isBooted(inside: (script: string) => Promise<string>): Promise<void> {
  const end = performance.now() + BOOT_MS;
  while (true) {
    const state = await inside("systemctl is-system-running --wait || true").catch(String);
    // A unit that needs a terminal or a device fails here.
    if (/^(running|degraded)$/.test(state)) return;
    if (performance.now() > end) throw new ReleaseError(`systemd did not start: ${state}`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** Runs a script as root in the namespaces of the child of a process. */
async function runIn(parent: number, script: string): Promise<string> {
  const pid = (await Deno.readTextFile(`/proc/${parent}/task/${parent}/children`)).trim();
  return await run("nsenter", [`--target=${pid}`, "--all", "sh", "-euc", script]);
}
