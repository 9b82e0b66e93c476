import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { listAll } from "../../services/containers/reads.ts";
import { removeLeftHelpers } from "../../services/containers/helpers.ts";
import { findHelperImage } from "../../services/backup/volumes/helper_image.ts";
import { streamProgram } from "../../services/backup/volumes/helper_program.ts";
import { listDirectory } from "../../services/backup/volumes/listing.ts";
import {
  deletePath,
  emptyVolume,
  makeDirectory,
  renamePath,
} from "../../services/backup/volumes/operations.ts";
import { openVolume } from "../../services/backup/volumes/read.ts";
import { helperShell } from "../../services/backup/volumes/shell.ts";
import { usersOf } from "../../services/backup/volumes/users.ts";
import { writeVolume } from "../../services/backup/volumes/write.ts";
import type { Entry } from "../../services/backup/restic/entry.ts";
import { startEngineProxy } from "../helpers/engine_proxy.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, privateEngineTest } from "../helpers/real_engine.ts";
import { eachEngine, volumeApp } from "../helpers/volume_app.ts";

const { signal } = new AbortController();

/** Hard to quote, and not UTF-8. */
const ODD = "-x \xff\n\\n%b'\"$x\n";

const entry = (path: string, type: Entry["type"], more: Partial<Entry> = {}): Entry => ({
  ...{ path, type, mode: 0o750, uid: 7, gid: 8, mtime: 1_000_000_000n, size: 0 },
  ...more,
});

async function* entriesFrom(...entries: Entry[]) {
  yield* entries;
}

const smallTree = () =>
  entriesFrom(
    entry("", "dir"),
    entry(ODD, "dir"),
    entry(`${ODD}/file`, "file", { size: 2, content: ReadableStream.from([new Uint8Array(2)]) }),
    entry("link", "symlink", { linkTarget: ODD }),
  );

const namesIn = (files: readonly { name: string }[]) => files.map(({ name }) => name);

eachEngine("files of a volume are listed, renamed and deleted", async (engine) => {
  await using seen = await volumeApp(engine);
  const { app, deps } = seen;
  const { source } = await seen.volume();
  await writeVolume(deps, source, smallTree(), { signal });
  const image = await findHelperImage(deps, ["longshore-test/none", BUSYBOX], signal);
  const shell = helperShell(deps, { source, image });
  const list = async (path: string) => (await listDirectory(shell, path, signal)).files;

  deepEqual(await list(ODD), [{
    ...{ name: "file", type: "file", mode: 0o750, uid: 7, gid: 8, size: 2 },
    mtime: 1_000_000_000n,
  }]);
  await makeDirectory(shell, "new", signal);
  await renamePath(shell, { from: ODD, to: `new/${ODD}` }, signal);
  deepEqual(namesIn(await list("new")), [ODD]);
  await renamePath(shell, { from: `new/${ODD}`, to: ODD }, signal);
  // Each takes Podman a second.
  if (engine.kind === "docker") {
    await rejects(makeDirectory(shell, "new", signal), /already exists/);
    await rejects(renamePath(shell, { from: "link", to: "new" }, signal), /already exists/);
    await rejects(deletePath(shell, "link/file", signal), /is behind a symbolic link/);
    await rejects(list("link"), /is behind a symbolic link/);
    await rejects(deletePath(shell, "none", signal), /does not exist/);
    await rejects(list("none"), /does not exist/);
    await rejects(list("../x"), /contains \.\./);
  }
  await deletePath(shell, `${ODD}/file`, signal);
  deepEqual(await list(ODD), []);
  await deletePath(shell, "link", signal);
  deepEqual(namesIn(await list("")), [ODD, "new"]);
  await emptyVolume(shell, signal);
  deepEqual(await list(""), []);

  equal(await seen.helpers(), 0);
  // The helper containers were seen by nothing.
  const { body } = await app.call("GET", "/api/events");
  ok(!JSON.stringify([deps.inventory.list(), body]).includes("longshore-helper"));
});

privateEngineTest("a helper container has one volume and few rights", async (engine) => {
  await using seen = await volumeApp(engine);
  const { deps } = seen;
  const { source } = await seen.volume();
  const name = "longshore-test/declares-volume:1";
  await engine.docker("run", "--name=longshore-test-declares", BUSYBOX, "true");
  await engine.docker("commit", "--change=VOLUME /data", "longshore-test-declares", name);
  await engine.docker("rm", "longshore-test-declares");
  const before = await engine.docker("volume", "ls", "--quiet");
  try {
    const image = await findHelperImage(deps, [name], signal);
    const script = `grep -E '^(CapEff|NoNewPrivs):' /proc/self/status
ls /sys/class/net
touch /file 2>&1 || :
touch file 2>&1 || :
grep -c " /longshore-" /proc/mounts
echo failure >&2
exit 3`;
    const output = streamProgram(deps, { image, source, isReadOnly: true, script, signal });
    let text = "";
    let next = await output.next();
    for (; !next.done; next = await output.next()) text += new TextDecoder().decode(next.value);

    // CHOWN, DAC_OVERRIDE, FOWNER and FSETID.
    const lines = text.trim().split("\n");
    deepEqual(lines.slice(0, 3), ["CapEff:\t000000000000001b", "NoNewPrivs:\t1", "lo"]);
    match(lines[3]!, /Read-only file system$/);
    match(lines[4]!, /Read-only file system$/);
    equal(lines[5], "1");
    deepEqual(next.value, { exitCode: 3, errors: "failure\n" });
    equal(await engine.docker("volume", "ls", "--quiet"), before);
  } finally {
    await engine.docker("rmi", name);
  }
});

privateEngineTest(
  "without an image with the programs, the message names HELPER_IMAGE",
  async (engine) => {
    await using seen = await volumeApp(engine);
    const { deps } = seen;
    const { source } = await seen.volume();
    // This creates the empty image.
    await writeVolume(deps, source, smallTree(), { signal });
    const find = (helperImage: string | null, images: string[]) =>
      findHelperImage({ ...deps, config: { ...deps.config, helperImage } }, images, signal);

    await rejects(find(null, ["localhost/longshore-empty:1"]), {
      code: "conflict",
      message: "No image for a helper container is known; " +
        "set HELPER_IMAGE to an image with sh, rm, find and tar, e.g. busybox",
    });
    await rejects(find("none:1", [BUSYBOX]), /^AppError: HELPER_IMAGE none:1 is not on this host/);
    await rejects(find("localhost/longshore-empty:1", [BUSYBOX]), /has no sh; set HELPER_IMAGE/);
  },
);

privateEngineTest(
  "the users of a volume are found, also by a mount of its directory",
  async (engine) => {
    await using seen = await volumeApp(engine);
    const { deps } = seen;
    const { source } = await seen.volume();
    const path = await engine.docker(
      "volume",
      "inspect",
      "--format={{.Mountpoint}}",
      source.source,
    );
    await using reader = await engine.runContainer({
      options: [`--volume=${source.source}:/data:ro`],
    });
    await using parent = await engine.runContainer({ options: [`--volume=${path}/..:/data`] });
    const stopped = await engine.docker("create", `--volume=${source.source}:/data`, BUSYBOX);
    try {
      await listAll(deps);
      const users = (await usersOf(deps, source, path))
        .map(({ container: { id }, isReadOnly, isRunning }) => [id, isReadOnly, isRunning]);
      deepEqual(
        users.sort(),
        [[reader.id, true, true], [parent.id, false, true], [stopped, false, false]].sort(),
      );
    } finally {
      await engine.docker("rm", stopped);
    }
  },
);

/** Operations that end at each of their calls, with what then is in the volume. */
const INTERRUPTED = ["read", "write", "empty"] as const;

for (const operation of INTERRUPTED) {
  long(privateEngineTest)(
    `nothing is left of an interrupted ${operation} of a volume`,
    async (engine) => {
      await using proxy = startEngineProxy(engine.socketPath, engine.sandbox.directory);
      await using seen = await volumeApp(engine, proxy.socketPath);
      const { deps } = seen;
      const { source } = await seen.volume();
      await using direct = await volumeApp(engine);
      await writeVolume(direct.deps, source, smallTree(), { signal });
      const image = await findHelperImage(direct.deps, [BUSYBOX], signal);
      const work = async () => {
        if (operation === "write") {
          return void await writeVolume(deps, source, smallTree(), { signal });
        }
        if (operation === "empty") {
          return await emptyVolume(helperShell(deps, { source, image }), signal);
        }
        for await (const _ of (await openVolume(deps, source, { signal })).entries);
      };
      const own = /^\/(?:volumes|images|containers\/[0-9a-f]{64}|containers\/create)/;

      let last = 0;
      for (let isDone = false; !isDone; last++) {
        let seenCalls = 0;
        proxy.observe(({ path, method }) => {
          if (
            own.test(path) && !(method === "GET" && path.endsWith("/json")) && seenCalls++ >= last
          ) {
            throw new Error("The process is gone");
          }
        });
        isDone = await work().then(() => seenCalls <= last, () => false);
        ok(last < 40, "the operation does not end");
        // The next start, through another connection.
        await removeLeftHelpers({ ...direct.deps, server: deps.server, startedAt: new Date(0) });
        equal(await direct.helpers(), 0, `call ${last}`);
      }
      proxy.observe(() => {});
      // At least four calls were lost, before and after the engine got them.
      ok(last > 8, `${last} calls`);
      const { files } = await listDirectory(
        helperShell(direct.deps, { source, image }),
        "",
        signal,
      );
      deepEqual(namesIn(files), operation === "empty" ? [] : [ODD, "link"]);
    },
  );
}
