import { deepEqual, equal } from "node:assert/strict";
import type { SkipList } from "../../services/backup/volumes/limits.ts";
import { openVolume } from "../../services/backup/volumes/read.ts";
import { writeVolume } from "../../services/backup/volumes/write.ts";
import { BUSYBOX, privateEngineTest, type RealEngine } from "../helpers/real_engine.ts";
import { eachEngine, volumeApp } from "../helpers/volume_app.ts";
import {
  type Described,
  describeEntries,
  describeTree,
  entriesOf,
  makeTree,
} from "../helpers/volume_tree.ts";

const { signal } = new AbortController();

const GNU_TAR = "longshore-test/gnu-tar:1";

/** An image with GNU's tar from this machine. */
async function importGnuTar(engine: RealEngine): Promise<void> {
  const script = `
    folder=$(mktemp -d)
    trap 'rm -rf "$folder"' EXIT
    mkdir "$folder/bin" "$folder/dev"
    cp "$(command -v busybox)" "$folder/bin/busybox"
    for applet in sh rm find stat mv mkdir; do ln -s busybox "$folder/bin/$applet"; done
    cp "$(command -v tar)" "$folder/bin/tar"
    ldd "$folder/bin/tar" | grep -o '/[^ ]*' | xargs cp --parents -Lt "$folder"
    tar -C "$folder" -c . | docker import - "$1"`;
  const { success } = await new Deno.Command("sh", {
    args: ["-euc", script, "sh", GNU_TAR],
    env: { DOCKER_HOST: `unix://${engine.socketPath}`, DOCKER_CONFIG: "/nonexistent" },
  }).output();
  if (!success) throw new Error("No image with GNU tar");
}

const S = 1_000_000_000n;
const MS = 1_000_000n;

/** Kept parts of a tree: times in multiples of `unit`, and extended attributes by name. */
interface Fidelity {
  unit: bigint;
  xattrs: RegExp;
  /** Earliest time. */
  min?: bigint;
  /** Whether times are rounded up. */
  isLater?: boolean;
}

/** The rows of docs/backup-fidelity.md. */
const FIDELITY: Record<"docker" | "podman", Record<string, Fidelity>> = {
  docker: {
    engine: { unit: S, xattrs: /^security\./ },
    gnuTar: { unit: 1n, xattrs: /./ },
    directory: { unit: MS, xattrs: /^$/ },
    write: { unit: 1n, xattrs: /./, min: 0n },
  },
  podman: {
    engine: { unit: S, xattrs: /^$/, min: 0n },
    gnuTar: { unit: 1n, xattrs: /./ },
    directory: { unit: MS, xattrs: /^$/ },
    write: { unit: 1000n, xattrs: /^(?:user|security)\./, isLater: true },
  },
};

const SPECIAL = ["block", "char", "fifo", "socket"];

function kept(tree: readonly Described[], { unit, xattrs, min, isLater = false }: Fidelity) {
  const rounded = (time: bigint) => {
    // As Go does it, whose division cuts towards 0.
    if (isLater) return (time + unit - 1n) / unit * unit;
    return time - ((time % unit) + unit) % unit;
  };
  return tree.filter(({ path }) => !SPECIAL.includes(path)).map((each) => ({
    ...each,
    mtime: min !== undefined && each.mtime < min ? min : rounded(each.mtime),
    xattrs: Object.fromEntries(Object.entries(each.xattrs).filter(([name]) => xattrs.test(name))),
  }));
}

/** Lines of the entries that differ. */
function differences(found: readonly Described[], expected: readonly Described[]): string[] {
  const line = (each: Described) => JSON.stringify({ ...each, mtime: `${each.mtime}` });
  const [a, b] = [found.map(line), expected.map(line)];
  return [...a.filter((each) => !b.includes(each)), ...b.filter((each) => !a.includes(each))];
}

privateEngineTest(
  "HELPER_IMAGE is probed once, and without GNU's tar not used again",
  async (engine) => {
    await using app = await volumeApp(engine);
    const { source } = await app.volume();
    const config = { ...app.deps.config, helperImage: BUSYBOX };
    const countHelpers = async () => {
      const from = await engine.docker("info", "--format={{.SystemTime}}");
      const { entries } = await openVolume({ ...app.deps, config }, source, { signal });
      deepEqual((await describeEntries(entries)).map(({ path }) => path), [""]);
      const until = await engine.docker("info", "--format={{.SystemTime}}");
      const filters = ["--filter=type=container", "--filter=event=create"];
      const events = await engine.docker(
        "events",
        `--since=${from}`,
        `--until=${until}`,
        ...filters,
      );
      return events.split("\n").filter(Boolean).length;
    };
    // The programs, whether the last one is GNU's, and the archive.
    equal(await countHelpers(), 3);
    equal(await countHelpers(), 1);
  },
);

const namesOf = (skipped: SkipList) => skipped.items.map(({ path }) => path).sort();

eachEngine("everything in a volume is read and written", async (engine) => {
  await importGnuTar(engine);
  await using app = await volumeApp(engine);
  const { deps } = app;
  const { source, path } = await app.volume();
  await makeTree(path);
  const tree = await describeTree(path);
  const ways = FIDELITY[engine.kind];
  const read = async (settings: { helperImage?: string; volumesPath?: string }) => {
    const config = { ...deps.config, ...settings };
    const opened = await openVolume({ ...deps, config }, source, { images: [BUSYBOX], signal });
    return { ...opened, found: await describeEntries(opened.entries) };
  };

  const plain = await read({});
  deepEqual(differences(plain.found, kept(tree, ways.engine!)), []);
  // An archive of Docker has no sockets.
  deepEqual(namesOf(plain.skipped), engine.kind === "docker" ? SPECIAL.slice(0, 3) : SPECIAL);

  const gnu = await read({ helperImage: GNU_TAR });
  deepEqual(differences(gnu.found, kept(tree, ways.gnuTar!)), []);
  deepEqual(namesOf(gnu.skipped), SPECIAL);

  // The runtime cannot open the names in one directory.
  const direct = await read({ volumesPath: app.volumes });
  const isOdd = ({ path }: Described) => path.startsWith("odd/");
  const expected = [
    ...kept(tree.filter((each) => !isOdd(each)), ways.directory!),
    ...kept(tree.filter(isOdd), ways.engine!),
  ];
  equal(direct.way, "directory");
  deepEqual(differences(direct.found, expected), []);
  deepEqual(namesOf(direct.skipped), SPECIAL);

  const target = await app.volume();
  const restored = tree.filter(({ type }) => type !== "dev" && type !== "chardev");
  const written = await writeVolume(deps, target.source, entriesOf(path, restored), { signal });
  deepEqual(differences(await describeTree(target.path), kept(tree, ways.write!)), []);
  const isLost = ({ xattrs }: Described) =>
    Object.keys(xattrs).some((name) => !ways.write!.xattrs.test(name));
  deepEqual(
    namesOf(written.skipped),
    [...tree.filter(isLost).map((each) => each.path), ...SPECIAL.slice(2)],
  );
  equal(await app.helpers(), 0);
});
