import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { idOf } from "../../../../services/backup/restic/id.ts";
import { openKeys } from "../../../../services/backup/restic/key.ts";
import { type KeepRules, planForget } from "../../../../services/backup/restic/forget.ts";
import { acquireLock } from "../../../../services/backup/restic/lock.ts";
import { saveSnapshot } from "../../../../services/backup/restic/snapshot.ts";
import { createDirectoryStorage } from "../../../../services/backup/storages/directory.ts";
import { randomNumbers } from "../../../helpers/drill.ts";
import { long } from "../../../helpers/long.ts";
import { randomTree } from "../../../helpers/random_tree.ts";
import {
  collect,
  description,
  directoryEntry,
  entriesOf,
  fileEntry,
  joinRepository,
  newRepository,
  optionsOf,
  PASSWORD,
  restored,
  signal,
  type TestEntry,
} from "../../../helpers/repository.ts";
import { restic } from "../../../helpers/restic.ts";

/** Random trees and alternating operations; more in `deno task backup-drill`. */
const TREES = Number(Deno.env.get("BACKUP_DRILL_TREES") ?? 5);
const OPERATIONS = Number(Deno.env.get("BACKUP_DRILL_OPERATIONS") ?? 6);
const SEED = Number(Deno.env.get("BACKUP_DRILL_SEED") ?? 1);

/** Runs a test in a temporary directory, with a repository in it. */
function directoryTest(
  name: string,
  run: (directory: string, storage: ReturnType<typeof createDirectoryStorage>) => Promise<void>,
): void {
  Deno.test(name, async () => {
    const directory = await Deno.makeTempDir();
    try {
      const storage = createDirectoryStorage(`${directory}/repository`, { now: () => new Date() });
      await run(directory, storage);
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  });
}

/** Fields of entries that a round trip over a filesystem keeps. */
const comparable = (entries: TestEntry[]) =>
  entries.map(({ user: _u, group: _g, bytes, ...entry }) => ({
    ...entry,
    hash: bytes && idOf(bytes),
  }))
    .sort((a, b) => a.path < b.path ? -1 : 1);

const large = (length: number) => {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 65_536) {
    crypto.getRandomValues(bytes.subarray(at, Math.min(length, at + 65_536)));
  }
  return bytes;
};

directoryTest(
  `restic restores ${TREES} random trees, backs them up, and we read the same from it`,
  async (directory, storage) => {
    const random = randomNumbers(SEED);
    const entries = Array.from({ length: TREES }, (_, i) => randomTree(`tree${i}`, random)).flat();
    const repository = await newRepository(storage);
    const ours = await repository.backup(entriesOf(entries), description, signal);
    deepEqual(comparable(await restored(repository, ours.snapshot.id)), comparable(entries));

    await restic(`${directory}/repository`, ["check", "--read-data"]);
    await restic(`${directory}/repository`, ["restore", "latest", "--target", `${directory}/out`]);
    const cwd = `${directory}/out`;
    await restic(`${directory}/repository`, ["backup", "--host", "other", "."], { cwd });

    const [theirs] = (await repository.snapshots(signal)).slice(-1);
    equal(theirs!.hostname, "other");
    deepEqual(comparable(await restored(repository, theirs!.id)), comparable(entries));
  },
);

directoryTest(
  "we join a repository of restic, and cut files where it does",
  async (directory, storage) => {
    const root = `${directory}/repository`;
    await restic(root, ["init"], { cwd: directory });
    const bytes = large(12 << 20);
    await Deno.mkdir(`${directory}/in`);
    await Deno.writeFile(`${directory}/in/large`, bytes);
    await Deno.writeTextFile(`${directory}/in/text`, "text ".repeat(10_000));
    await restic(root, ["backup", "."], { cwd: `${directory}/in` });
    const repository = await joinRepository(storage);
    const [theirs] = await repository.snapshots(signal);
    const read = await restored(repository, theirs!.id);
    deepEqual(read.map(({ path }) => path), ["large", "text"]);
    deepEqual(read[0]!.bytes, bytes);

    const { bytesAdded } = await repository.backup(entriesOf(read), description, signal);
    ok(bytesAdded < 10_000, `${bytesAdded} bytes were added`);
    deepEqual(
      await collect(repository.entries(theirs!.id, { paths: ["text"] }, signal)),
      [read[1]],
    );
    const part = repository.readFile(
      theirs!.id,
      "large",
      { range: { offset: 5_000_000, length: 3_000_000 } },
      signal,
    );
    const joined = await new Blob(await Array.fromAsync(part) as BlobPart[]).bytes();
    deepEqual(joined, bytes.slice(5_000_000, 8_000_000));
  },
);

long(directoryTest)(
  `${OPERATIONS} alternating operations with restic keep what is kept`,
  async (directory, storage) => {
    const root = `${directory}/repository`;
    const random = randomNumbers(SEED);
    const repository = await newRepository(storage);
    const expected = new Map<string, TestEntry[]>();
    let files = Array.from({ length: 8 }, (_, i) => fileEntry(`file${i}`, large(400_000)));
    const remember = async (content: TestEntry[]) => {
      const [newest] = (await repository.snapshots(signal)).slice(-1);
      expected.set(newest!.id, content);
    };
    const operations = {
      async ourBackup() {
        await repository.backup(entriesOf(files), description, signal);
        await remember(files);
      },
      async resticBackup() {
        const cwd = `${directory}/in`;
        await Deno.mkdir(cwd, { recursive: true });
        for (const { path, bytes } of files) await Deno.writeFile(`${cwd}/${path}`, bytes!);
        await restic(root, ["backup", "--host", "other", "."], { cwd });
        await remember(files);
      },
      async ourPrune() {
        const [oldest] = await repository.snapshots(signal);
        await repository.removeSnapshots([oldest!.id], signal);
        expected.delete(oldest!.id);
        await repository.prune({ maxUnusedPercent: 0 }, signal);
      },
      async resticPrune() {
        const [oldest] = await repository.snapshots(signal);
        await restic(root, ["forget", "--prune", "--max-unused", "0", oldest!.id]);
        expected.delete(oldest!.id);
      },
    };
    const order = [
      "ourBackup",
      "resticBackup",
      "resticPrune",
      "ourBackup",
      "resticBackup",
      "ourPrune",
    ] as const;
    for (let n = 0; n < OPERATIONS; n++) {
      files = files.map((file) => random() < 0.3 ? fileEntry(file.path, large(400_000)) : file);
      await operations[order[n % order.length]!]();
      deepEqual((await repository.check({ readData: { part: 1, of: 1 } }, signal)).problems, []);
    }
    await restic(root, ["check", "--read-data"]);
    const snapshots = await repository.snapshots(signal);
    deepEqual(snapshots.map(({ id }) => id).sort(), [...expected.keys()].sort());
    for (const [id, content] of expected) {
      const bytes = (await restored(repository, id)).map((entry) => entry.bytes);
      deepEqual(bytes, content.map((entry) => entry.bytes));
      for (const { path, bytes } of content.slice(0, 1)) {
        const dumped = `${directory}/dumped`;
        await restic(root, ["restore", id, "--include", `/${path}`, "--target", dumped]);
        deepEqual(await Deno.readFile(`${dumped}/${path}`), bytes);
      }
    }
  },
);

directoryTest("the rules of forget keep what restic keeps", async (directory, storage) => {
  const root = `${directory}/repository`;
  await newRepository(storage);
  const files = { storage, keys: await openKeys(storage, PASSWORD, signal), version: 2 };
  const repository = await joinRepository(storage);
  const { snapshot } = await repository.backup(
    entriesOf([directoryEntry("data")]),
    description,
    signal,
  );
  const random = randomNumbers(SEED);
  const newest = Date.parse("2026-03-01T00:00:00Z");
  for (let n = 0; n < 40; n++) {
    const age = random() ** 3 * 500 * 86_400_000;
    const time = new Date(newest - age).toISOString().replace("Z", "123Z");
    await saveSnapshot(files, { ...snapshot, time }, signal);
  }
  await repository.removeSnapshots([snapshot.id], signal);
  const snapshots = await repository.snapshots(signal);
  const rules: [KeepRules, string[]][] = [
    [{ last: 3 }, ["--keep-last", "3"]],
    [{ hourly: 4, daily: 5 }, ["--keep-hourly", "4", "--keep-daily", "5"]],
    [{ weekly: 9 }, ["--keep-weekly", "9"]],
    [{ monthly: 30, yearly: 1 }, ["--keep-monthly", "30", "--keep-yearly", "1"]],
    [{ within: { months: 2, days: 3, hours: 5 } }, ["--keep-within", "2m3d5h"]],
  ];
  for (const [keep, args] of rules) {
    const json = await restic(root, ["forget", "--dry-run", "--json", ...args]);
    const [group] = JSON.parse(json.slice(json.indexOf("[")));
    const plan = planForget(snapshots, keep, { now: new Date() });
    const ids = (list: { id: string }[]) => list.map(({ id }) => id).sort();
    deepEqual(ids(plan.removed), ids(group.remove ?? []), args.join(" "));
  }
});

directoryTest("restic respects our locks", async (directory, storage) => {
  const root = `${directory}/repository`;
  await newRepository(storage);
  const files = { storage, keys: await openKeys(storage, PASSWORD, signal), version: 2 };
  const options = optionsOf(storage);
  const shared = await acquireLock(files, { ...options, exclusive: false }, signal);
  await restic(root, ["snapshots"]);
  await rejects(restic(root, ["prune"]), /already locked by PID/);
  await shared.release();
  const exclusive = await acquireLock(files, { ...options, exclusive: true }, signal);
  await rejects(restic(root, ["backup", "."]), /already locked exclusively by PID/);
  await exclusive.release();
  await restic(root, ["prune"]);
});
