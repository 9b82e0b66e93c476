import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { createHash } from "node:crypto";
import { importKeys } from "../../../../services/backup/restic/crypto.ts";
import { loadIndexFile, saveIndexFile } from "../../../../services/backup/restic/index_file.ts";
import { BLOBS_MAX } from "../../../../services/backup/restic/limits.ts";
import { createMasterIndex } from "../../../../services/backup/restic/master_index.ts";
import {
  createPackWriter,
  type PackWriter,
} from "../../../../services/backup/restic/pack_writer.ts";
import { openKeys } from "../../../../services/backup/restic/key.ts";
import { openRepository, type Repository } from "../../../../services/backup/restic/repository.ts";
import { damaged, RepositoryError } from "../../../../services/backup/restic/repository_error.ts";
import { loadSnapshots, saveSnapshot } from "../../../../services/backup/restic/snapshot.ts";
import { type FileKind, StorageError } from "../../../../services/backup/restic/storage.ts";
import { createMemoryStorage, type MemoryStorage } from "../../../helpers/memory_storage.ts";
import {
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
  fileEntry("data/a", crypto.getRandomValues(new Uint8Array(10_000))),
  fileEntry("data/b", "text"),
];

/** A repository with two snapshots, so that files of a kind can be exchanged. */
async function twoSnapshots() {
  const storage = createMemoryStorage();
  const repository = await newRepository(storage);
  await repository.backup(entriesOf(entries.slice(0, 2)), description, signal);
  await repository.backup(entriesOf(entries), description, signal);
  return storage;
}

/** All entries of both snapshots; fails with the first problem. */
async function readAll(repository: Repository) {
  const snapshots = await repository.snapshots(signal);
  equal(snapshots.length, 2, "a snapshot is missing");
  const contents = [];
  for (const { id } of snapshots) contents.push(await restored(repository, id));
  return contents;
}

const isRefused = (error: unknown) =>
  (error instanceof RepositoryError && error.reason !== "refused") ||
  (error instanceof StorageError && /^(damaged|not_found)$/.test(error.reason));

const changes: Record<string, (storage: MemoryStorage, keys: [string, string]) => void> = {
  "with a flipped bit": ({ files }, [key]) => {
    const bytes = files.get(key)!.slice();
    bytes[bytes.length >> 1]! ^= 4;
    files.set(key, bytes);
  },
  "cut off": ({ files }, [key]) => void files.set(key, files.get(key)!.slice(0, -5)),
  "empty": ({ files }, [key]) => void files.set(key, new Uint8Array()),
  "exchanged with another one": ({ files }, [key, other]) => {
    const bytes = files.get(key)!;
    files.set(key, files.get(other)!);
    files.set(other, bytes);
  },
  "removed": ({ files }, [key]) => void files.delete(key),
};

const original = await twoSnapshots();
const content = await readAll(await joinRepository(original));

// Opening costs a key derivation. This one is for tests that change neither keys nor index files.
const sharedStorage = createMemoryStorage(original.files);
const shared = await joinRepository(sharedStorage);

for (const kind of ["config", "keys", "snapshots", "index", "data"] as FileKind[]) {
  for (const [how, change] of Object.entries(changes)) {
    const names = original.keys(kind);
    if (names.length < 2 && how.startsWith("exchanged")) continue;
    Deno.test(`a file of ${kind} ${how} is refused by name, and content is never wrong`, async () => {
      for (const key of names) {
        const other = names.find((name) => name !== key) ?? key;
        const isOpened = kind === "data" || kind === "snapshots";
        const storage = isOpened ? sharedStorage : createMemoryStorage();
        storage.reset(original.files);
        change(storage, [key, other]);
        const failure = await (async () => {
          const repository = isOpened ? shared : await joinRepository(storage);
          // The header of a pack is not needed for reading.
          deepEqual(await readAll(repository), content);
          const { problems } = await repository.check({ readData: { part: 1, of: 1 } }, signal);
          match(problems.join(), /^Pack .* is damaged/);
          return damaged("Pack", "found by the check");
        })().catch((error) => error);
        if (kind === "snapshots" && how === "removed") {
          match(failure.message, /snapshot is missing/);
        } else ok(isRefused(failure), `${key}: ${failure.stack}`);
      }
    });
  }
}

Deno.test("a wrong password opens nothing", async () => {
  await rejects(
    openRepository({ ...optionsOf(original), password: `${PASSWORD}.` }, signal),
    { reason: "wrong_password", message: "The password fits none of the keys" },
  );
});

Deno.test("a second password opens the same repository", async () => {
  const storage = createMemoryStorage(original.files);
  const first = await joinRepository(storage);
  await first.addKey("another", signal);
  const second = await openRepository({ ...optionsOf(storage), password: "another" }, signal);
  equal(first.id, second.id);
});

Deno.test("check names what is damaged", async () => {
  sharedStorage.reset(original.files);
  const [key] = sharedStorage.keys("data");
  changes["with a flipped bit"]!(sharedStorage, [key!, key!]);
  deepEqual((await shared.check({}, signal)).packsRead, 0);
  const { problems } = await shared.check({ readData: { part: 1, of: 1 } }, signal);
  match(
    problems.join(),
    new RegExp(`Pack ${key!.slice(5, 13)} is damaged: its hash is not its name`),
  );
});

const keys = await openKeys(original, PASSWORD, signal);
const sharedFiles = { storage: sharedStorage, keys, version: 2 };

/** Trees by an author with the password, which no backup would write. */
async function forge(write: (save: PackWriter["save"]) => Promise<string>): Promise<string> {
  sharedStorage.reset(original.files);
  const writer = createPackWriter(sharedFiles, createMasterIndex(), { signal, now: () => 0 });
  const tree = await write(writer.save);
  await writer.flush();
  const snapshot = { ...description, time: "2026-01-01T00:00:00Z", tree, uid: 0, gid: 0 };
  return (await saveSnapshot(sharedFiles, snapshot, signal)).id;
}

const bytesOf = (text: string) => new TextEncoder().encode(text);

const node = (fields: string) =>
  `{"nodes":[{${fields},"mode":420,"uid":0,"gid":0,"content":[]}]}\n`;

for (
  const { what, tree, message } of [
    { what: "..", tree: node('"name":"..","type":"file"'), message: /lead out of its directory/ },
    { what: "a slash", tree: node('"name":"a/b","type":"file"'), message: /"a\/b" would lead out/ },
    { what: "an absolute name", tree: node('"name":"/etc","type":"file"'), message: /lead out/ },
    {
      what: "an escaped slash",
      tree: node('"name":"a\\\\x2fb","type":"file"'),
      message: /lead out/,
    },
    { what: "NUL", tree: node('"name":"a\\\\x00","type":"file"'), message: /a\\x00/ },
    { what: "no name", tree: node('"name":"","type":"file"'), message: /lead out/ },
    {
      what: "2^60 bytes",
      tree: node('"name":"a","type":"file","size":1152921504606846976'),
      message: /claims 115292150460684\d+ bytes, but has 0/,
    },
    { what: "a type of its own", tree: node('"name":"a","type":"door"'), message: /unknown type/ },
    {
      what: "double names",
      tree: '{"nodes":[{"name":"a","type":"fifo"},{"name":"a","type":"fifo"}]}\n',
      message: /"a" is double or not in order/,
    },
    { what: "a list that does not end", tree: '{"nodes":[{"name":"a"', message: /not a list/ },
    { what: "deep JSON", tree: `{"nodes":[${'{"a":'.repeat(2_000)}`, message: /not a list/ },
    { what: "no tree for a directory", tree: node('"name":"a","type":"dir"'), message: /subtree/ },
    {
      what: "a blob that is nowhere",
      tree: `{"nodes":[{"name":"a","type":"file","size":1,"content":["${"0".repeat(64)}"]}]}\n`,
      message: /Blob 00000000 is damaged: no index has it as data/,
    },
  ]
) {
  Deno.test(`a tree with ${what} is refused by name`, async () => {
    const snapshot = await forge((save) => save("tree", bytesOf(tree)));
    await rejects(restored(shared, snapshot), (error: RepositoryError) => {
      equal(error.reason, "damaged");
      match(error.message, message);
      return true;
    });
  });
}

Deno.test("a tree that is too deep is refused", async () => {
  const snapshot = await forge(async (save) => {
    let tree = await save("tree", bytesOf('{"nodes":[]}\n'));
    for (let depth = 0; depth <= 1_000; depth++) {
      const json = `{"nodes":[{"name":"d","type":"dir","subtree":"${tree}"}]}\n`;
      tree = await save("tree", bytesOf(json));
    }
    return tree;
  });
  await rejects(restored(shared, snapshot), /more than 1000 directories deep/);
  match((await shared.check({}, signal)).problems.join(), /more than 1000 directories deep/);
});

Deno.test("a foreign index cannot make a file have other content", async () => {
  const storage = createMemoryStorage(original.files);
  const files = { storage, keys, version: 2 };
  const repository = await joinRepository(storage);
  const [pack] = storage.keys("data");
  const id = pack!.slice(5);
  const blob = { type: "data" as const, offset: 0, length: 40, uncompressedLength: undefined };
  await saveIndexFile(files, [{ id, blobs: [{ ...blob, id: "a".repeat(64) }] }], [], signal);
  match((await repository.check({}, signal)).problems.join(), /has another size than in the index/);
  const [snapshot] = await repository.snapshots(signal);
  await restored(repository, snapshot!.id);

  const foreign = { ...files, keys: await importKeys(new Uint8Array(64)) };
  await saveIndexFile(foreign, [], [], signal);
  await rejects(restored(repository, snapshot!.id), /Index .* authentication code does not match/);
});

Deno.test("snapshots and index files that expand to more than fits into memory are refused", async () => {
  const storage = createMemoryStorage(original.files);
  const files = { storage, keys, version: 2 };
  const snapshot = { ...description, time: "2026-01-01T00:00:00Z", tree: "a".repeat(64) };
  const save = (length: number) =>
    saveSnapshot(files, { ...snapshot, paths: ["/".repeat(length)], uid: 0, gid: 0 }, signal);
  const most = await save(4_000_000);
  await save(1_000_000);
  const size = [...storage.files.values()].reduce((sum, { length }) => sum + length, 0);
  ok(size < 100_000, `${size} bytes at the target`);
  ok((await loadSnapshots(files, signal)).some(({ id }) => id === most.id));
  await rejects(loadSnapshots(files, signal, { textMax: 4_500_000 }), {
    reason: "unsupported",
    message: new RegExp(`more than 4500000 characters of paths and tags, most of them ${most.id}`),
  });

  const blob = { id: "a".repeat(64), type: "data" as const, offset: 0, length: 40 };
  const packs = [{ id: "b".repeat(64), blobs: [{ ...blob, uncompressedLength: undefined }] }];
  const name = await saveIndexFile(files, packs, [], signal);
  const full = { ...createMasterIndex(), count: BLOBS_MAX };
  await rejects(loadIndexFile(files, full, name, signal), {
    reason: "unsupported",
    message: `The index has more than ${BLOBS_MAX} blobs`,
  });
});

Deno.test("a key file cannot demand minutes of the processor", async () => {
  const storage = createMemoryStorage(original.files);
  const [key] = storage.keys("keys");
  const file = JSON.parse(new TextDecoder().decode(storage.files.get(key!)));
  for (
    const [demanded, isRefused] of [
      [{ p: 32 }, false],
      [{ p: 33 }, true],
      [{ N: 2 ** 18, p: 5 }, true],
    ] as const
  ) {
    const bytes = bytesOf(JSON.stringify({ ...file, ...demanded, data: "" }));
    storage.reset(new Map([[`keys/${createHash("sha256").update(bytes).digest("hex")}`, bytes]]));
    await rejects(openKeys(storage, PASSWORD, signal), {
      reason: isRefused ? "unsupported" : "wrong_password",
    });
  }
});
