import { deepEqual, equal } from "node:assert/strict";
import { containerList } from "../../engine/containers.ts";
import { systemPing } from "../../engine/system.ts";
import { volumeRemove } from "../../engine/volumes.ts";
import { HELPER_LABEL } from "../../services/containers/helpers.ts";
import type { SkipList } from "../../services/backup/volumes/limits.ts";
import { openVolume } from "../../services/backup/volumes/read.ts";
import { createVolume, writeVolume } from "../../services/backup/volumes/write.ts";
import { liveApp } from "../helpers/live_app.ts";
import {
  BUSYBOX,
  isEngineRequired,
  podmanObstacle,
  privateEngineTest,
  type RealEngine,
  startPodman,
} from "../helpers/real_engine.ts";
import type { Sandbox } from "../helpers/sandbox.ts";
import {
  type Described,
  describeEntries,
  describeTree,
  entriesOf,
  makeTree,
} from "../helpers/volume_tree.ts";

const { signal } = new AbortController();

/** An application on an engine whose volumes the test sees as root on the host. */
async function volumeApp(engine: RealEngine & { sandbox: Sandbox }, config = {}) {
  await using stack = new AsyncDisposableStack();
  const app = stack.use(await liveApp(engine.socketPath, { config }));
  const { deps } = app;
  await systemPing(deps.engine);
  const part = engine.kind === "podman" ? "podman" : "docker";
  const volumes =
    `/proc/${engine.sandbox.pid}/root${engine.sandbox.directory}/data/${part}/volumes`;
  const resources = stack.move();
  return {
    deps,
    volumes,
    /** Creates a volume that a container has used; returns its name and its directory on the host. */
    async volume() {
      const name = `files-${crypto.randomUUID()}`;
      await createVolume(deps, { name }, { signal });
      resources.defer(() => volumeRemove(deps.engine, name));
      // Podman sets the owner of the root when a container uses the volume for the first time.
      await engine.docker("run", "--rm", `--volume=${name}:/data`, BUSYBOX, "true");
      return {
        source: { type: "volume", source: name } as const,
        path: `${volumes}/${name}/_data`,
      };
    },
    helpers: async () =>
      (await containerList(deps.engine, { all: true, filters: { label: [HELPER_LABEL] } })).length,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

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

/** What a way keeps of a tree: times in multiples of `unit`, and extended attributes by name. */
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

/** Registers a test for both engines, whose volumes it sees on the host. */
function eachEngine(
  name: string,
  run: (engine: RealEngine & { sandbox: Sandbox }) => Promise<void>,
): void {
  privateEngineTest(`${name} (Docker)`, run);
  Deno.test({
    name: `${name} (Podman)`,
    ignore: podmanObstacle() !== undefined && !isEngineRequired(),
    async fn() {
      // That of the test run is not seen from here.
      await using engine = await startPodman();
      await run(engine);
    },
  });
}
