import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { scryptSync } from "node:crypto";
import { importKeys, seal } from "../../../../services/backup/restic/crypto.ts";
import { idOf } from "../../../../services/backup/restic/id.ts";
import { openKeys } from "../../../../services/backup/restic/key.ts";
import { acquireLock } from "../../../../services/backup/restic/lock.ts";
import {
  createRepositoryOpener,
  repositoryWorkerScript,
  startRepository,
} from "../../../../services/backup/restic/worker_repository.ts";
import { DEPTH_MAX } from "../../../../services/backup/restic/limits.ts";
import { createDirectoryStorage } from "../../../../services/backup/storages/directory.ts";
import { createMemoryStorage } from "../../../helpers/memory_storage.ts";
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
} from "../../../helpers/repository.ts";

const entries = [
  directoryEntry("data"),
  fileEntry("data/a", "first"),
  fileEntry("data/b", new Uint8Array(3 << 20).fill(7)),
];

Deno.test("files whose identity is that of the parent snapshot are not read again", async () => {
  const repository = await newRepository(createMemoryStorage());
  const reads: string[] = [];
  async function* backedUp(mtime: bigint) {
    for (const path of ["a", "b"]) {
      const { bytes, ...entry } = fileEntry(path, path);
      const content = async function* () {
        reads.push(path);
        yield bytes!;
      };
      yield { ...entry, inode: 5n, mtime: path === "b" ? mtime : 1n, content: content() };
    }
  }
  const first = await repository.backup(backedUp(1n), description, signal);
  reads.length = 0;
  const options = { ...description, parent: first.snapshot.id };
  const { snapshot, counts } = await repository.backup(backedUp(2n), options, signal);
  deepEqual(reads, ["b"]);
  equal(counts.unchangedFiles, 1);
  equal(snapshot.parent, first.snapshot.id);
  const changes = await Array.fromAsync(
    repository.diff(first.snapshot.id, snapshot.id.slice(0, 12), signal),
  );
  deepEqual(changes.map(({ path, change }) => [path, change]), [["b", "metadata"]]);
});

for (
  const { what, entry, message } of [
    { what: "..", entry: fileEntry("../a", ""), message: /"\.\.\/a" cannot be stored/ },
    { what: "an absolute path", entry: fileEntry("/a", ""), message: /not relative/ },
    { what: "NUL", entry: fileEntry("a\0", ""), message: /"a\\x00" cannot be stored: its name/ },
    { what: "a double name", entry: fileEntry("data/a", ""), message: /is there twice/ },
    {
      what: "1,001 directories",
      entry: fileEntry("d/".repeat(1_000) + "a", ""),
      message: /more than 1000/,
    },
    {
      what: "no content",
      entry: { ...directoryEntry("x"), type: "file" as const, size: 9 },
      message: /content is missing/,
    },
    {
      what: "a hard link to nothing",
      entry: { ...directoryEntry("x"), type: "file" as const, hardLinkTo: "nowhere" },
      message: /hard link to "nowhere", which is not a file/,
    },
  ]
) {
  Deno.test(`a backup refuses ${what} by name and makes no snapshot`, async () => {
    const repository = await newRepository(createMemoryStorage());
    const backup = repository.backup(entriesOf([...entries, entry]), description, signal);
    await rejects(backup, { reason: "refused", message });
    deepEqual(await repository.snapshots(signal), []);
  });
}

Deno.test("the deepest directory that is stored can be restored and checked", async () => {
  const repository = await newRepository(createMemoryStorage());
  const deepest = Array(DEPTH_MAX).fill("d").join("/");
  const stored = entriesOf([directoryEntry(deepest)]);
  const { snapshot } = await repository.backup(stored, description, signal);
  equal((await restored(repository, snapshot.id)).at(-1)!.path, deepest);
  deepEqual((await repository.check({}, signal)).problems, []);
});

Deno.test("a lock excludes others, until it is stale or its process has ended", async () => {
  const storage = createMemoryStorage();
  await newRepository(storage);
  const files = { storage, keys: await openKeys(storage, PASSWORD, signal), version: 2 };
  let time = Date.parse("2026-01-01T00:00:00Z");
  const holder = (hostname: string, pid: number) => ({
    ...optionsOf(storage).holder,
    hostname,
    pid,
  });
  const acquire = (exclusive: boolean, by: ReturnType<typeof holder>) =>
    acquireLock(files, { holder: by, now: () => new Date(time), settleMs: 0, exclusive }, signal);

  const backup = await acquire(false, holder("host2", 1));
  const other = await acquire(false, holder("host1", 1));
  equal(other.isAlone, false);
  await other.release();
  await rejects(acquire(true, holder("host1", 1)), {
    reason: "locked",
    message: /^Repository is locked by process 1 of longshore-test on host2 since 2026/,
  });
  time += 29 * 60_000;
  await backup.refresh();
  time += 29 * 60_000;
  await rejects(acquire(true, holder("host1", 1)), { reason: "locked" });
  time += 2 * 60_000;
  const prune = await acquire(true, holder("host1", 1));
  equal(storage.keys("locks").length, 1);
  await rejects(acquire(false, holder("host2", 1)), /exclusively locked/);
  // The same installation with another process: the first one has ended.
  await (await acquire(true, holder("host1", 2))).release();
  await prune.release();
  await backup.release();
  deepEqual(storage.keys("locks"), []);
});

Deno.test("a key is derived once, while its file is there and undamaged", async () => {
  const storage = createMemoryStorage();
  await newRepository(storage);
  const opened = new Map<string, Uint8Array>();
  const { raw } = await openKeys(storage, PASSWORD, signal, opened);
  const [name] = storage.keys("keys").map((key) => key.slice("keys/".length));
  deepEqual([...opened], [[name, raw]]);
  deepEqual((await openKeys(storage, "not derived", signal, opened)).raw, raw);
  const damaged = { ...storage, read: () => Promise.resolve(new Uint8Array(9)) };
  await rejects(openKeys(damaged, PASSWORD, signal, opened), { reason: "damaged" });
  await storage.remove("keys", name!, signal);
  await rejects(openKeys(storage, PASSWORD, signal, opened), { reason: "absent" });
});

for (const p of [20, 33]) {
  Deno.test(`a key with p = ${p} of scrypt ${p > 32 ? "is refused" : "opens"}`, async () => {
    const storage = createMemoryStorage();
    const cost = { N: 16, r: 1, p };
    const salt = new Uint8Array(64);
    const derived = await importKeys(new Uint8Array(scryptSync(PASSWORD, salt, 64, cost)));
    const zeros = new Uint8Array(16).toBase64();
    const encrypt = new Uint8Array(32).toBase64();
    const master = JSON.stringify({ mac: { k: zeros, r: zeros }, encrypt });
    const data = await seal(derived, new TextEncoder().encode(master));
    const fields = { kdf: "scrypt", ...cost, salt: salt.toBase64(), data: data.toBase64() };
    const file = new TextEncoder().encode(JSON.stringify(fields));
    await storage.write("keys", idOf(file), file, signal);
    const opened = openKeys(storage, PASSWORD, signal);
    if (p > 32) await rejects(opened, { reason: "unsupported" });
    else equal((await opened).raw.length, 64);
  });
}

Deno.test("keys are kept for the password that has opened them", async () => {
  const storage = createMemoryStorage();
  await newRepository(storage);
  const kept = new Map<string, Map<string, Uint8Array>>();
  const open = createRepositoryOpener(kept);
  for (let times = 0; times < 2; times++) (await open(optionsOf(storage), signal)).close();
  const wrong = { ...optionsOf(storage), password: "wrong" };
  await rejects(open(wrong, signal), { reason: "wrong_password" });
  deepEqual([...kept.values()].map(({ size }) => size), [1]);
  ok([...kept.keys()].every((hash) => hash.length === 43 && !hash.includes(PASSWORD)));
});

Deno.test("what is excluded by a lock waits for it, and fails at once otherwise", async () => {
  const storage = createMemoryStorage();
  const options = { ...optionsOf(storage), retryMs: 1, creates: true };
  using first = await startRepository(await repositoryWorkerScript(), options, signal);
  const second = await joinRepository(storage);
  const { promise: isStored, resolve: store } = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  const backup = second.backup(
    (async function* () {
      started.resolve();
      await isStored;
      yield* entriesOf(entries);
    })(),
    description,
    signal,
  );
  await started.promise;
  await first.backup(entriesOf(entries), description, signal);
  await rejects(first.removeSnapshots([], signal), { reason: "locked" });
  const reasons: string[] = [];
  await first.removeSnapshots([], signal, {
    onLocked(reason) {
      reasons.push(reason);
      store();
    },
  });
  await backup;
  match(reasons[0]!, /^Repository is locked by process/);
  equal((await second.snapshots(signal)).length, 2);
  deepEqual(storage.keys("locks"), []);
});

Deno.test("a repository in a worker does the same, and reports failures and abortion", async () => {
  const directory = await Deno.makeTempDir();
  const storage = createDirectoryStorage(directory, { now: () => new Date() });
  const options = { ...optionsOf(storage), creates: true };
  {
    using repository = await startRepository(await repositoryWorkerScript(), options, signal);
    let reported = 0;
    const { snapshot, counts } = await repository.backup(
      entriesOf([...entries, { ...fileEntry("e", "with inode"), inode: 9n }]),
      { ...description, onProgress: () => reported += 1 },
      signal,
    );
    equal(counts.files, 3);
    ok(reported > 0);
    const again = await repository.backup(
      entriesOf([...entries, { ...fileEntry("e", "with inode"), inode: 9n }]),
      { ...description, parent: snapshot.id },
      signal,
    );
    equal(again.counts.unchangedFiles, 1);
    deepEqual(
      (await restored(repository, again.snapshot.id)).map((
        { path, bytes },
      ) => [path, bytes?.length]),
      [["data", undefined], ["data/a", 5], ["data/b", 3 << 20], ["e", 10]],
    );
    const names = await Array.fromAsync(repository.listDirectory(snapshot.id, "data", signal));
    deepEqual(names.map(({ path, size }) => [path, size]), [["data/a", 5], ["data/b", 3 << 20]]);
    await rejects(
      collect(repository.entries(snapshot.id, { paths: ["data/c"] }, signal)),
      { name: "RepositoryError", reason: "not_found", message: '"data/c" is not in the snapshot' },
    );
    await rejects(
      repository.backup(entriesOf([fileEntry("..", "")]), description, signal),
      { reason: "refused" },
    );
    const controller = new AbortController();
    const endless = async function* () {
      for (let n = 0;; n++) {
        if (n === 500) controller.abort(new Error("enough"));
        yield { ...directoryEntry(`d${n}`), user: "x".repeat(1_000) };
      }
    };
    await rejects(repository.backup(endless(), description, controller.signal), /enough/);
    const failing = async function* () {
      yield directoryEntry("a");
      throw new Error("the disk is broken");
    };
    await rejects(repository.backup(failing(), description, signal), /the disk is broken/);
    deepEqual(await Array.fromAsync(storage.list("locks", signal)), []);
    deepEqual((await repository.check({ readData: { part: 1, of: 1 } }, signal)).problems, []);
  }
  const wrong = { ...options, creates: false, password: "wrong" };
  await rejects(startRepository(await repositoryWorkerScript(), wrong, signal), {
    reason: "wrong_password",
  });
  await rejects(startRepository(await repositoryWorkerScript(), options, signal), {
    reason: "exists",
  });
  await Deno.remove(directory, { recursive: true });
});

Deno.test("a directory keeps whole files only, and never replaces one", async () => {
  const directory = await Deno.makeTempDir();
  const storage = createDirectoryStorage(`${directory}/new`, { now: () => new Date() });
  const name = "ab".repeat(32);
  const bytes = new TextEncoder().encode("0123456789");
  deepEqual(await Array.fromAsync(storage.list("data", signal)), []);
  await storage.write("data", name, bytes, signal);
  await storage.write("data", name, bytes, signal);
  await rejects(storage.write("data", name, bytes.slice(1), signal), { reason: "exists" });
  deepEqual(await storage.read("data", name, signal, { offset: 2, length: 3 }), bytes.slice(2, 5));
  await rejects(storage.read("data", name, signal, { offset: 8, length: 3 }), {
    reason: "damaged",
  });
  await rejects(storage.read("index", name, signal), { reason: "not_found" });
  await rejects(storage.read("index", "../config", signal), { reason: "not_found" });
  await Deno.writeTextFile(`${directory}/new/data/ab/.longshore-left`, "half");
  deepEqual(await Array.fromAsync(storage.list("data", signal)), [{ name, size: 10 }]);
  const later = createDirectoryStorage(`${directory}/new`, {
    now: () => new Date(Date.now() + 25 * 60 * 60_000),
  });
  await Array.fromAsync(later.list("data", signal));
  deepEqual(Array.from(Deno.readDirSync(`${directory}/new/data/ab`), (file) => file.name), [name]);
  await storage.remove("data", name, signal);
  await storage.remove("data", name, signal);
  match(String(await storage.room(signal)), /^\d+$/);
  await Deno.remove(directory, { recursive: true });
});
