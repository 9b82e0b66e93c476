import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { RepositoryError } from "../../../../services/backup/restic/repository_error.ts";
import type { Repository } from "../../../../services/backup/restic/repository.ts";
import { StorageError } from "../../../../services/backup/restic/storage.ts";
import { long } from "../../../helpers/long.ts";
import {
  createMemoryStorage,
  type Fault,
  type MemoryStorage,
} from "../../../helpers/memory_storage.ts";
import {
  description,
  directoryEntry,
  entriesOf,
  fileEntry,
  newRepository,
  restored,
  signal,
  type TestEntry,
} from "../../../helpers/repository.ts";

const random = crypto.getRandomValues(new Uint8Array(60_000));
const before = [directoryEntry("data"), fileEntry("data/a", random), fileEntry("data/b", "old")];
const { bytes: _, ...link } = { ...fileEntry("data/c", ""), hardLinkTo: "data/b" };
const after = [
  directoryEntry("data"),
  fileEntry("data/a", random),
  fileEntry("data/b", "new"),
  link,
];

const backUp = (repository: Repository, entries: readonly TestEntry[]) =>
  repository.backup(entriesOf(entries), description, signal);

/** The repository has no problem, and every snapshot can be restored. */
async function assertWhole(repository: Repository, message: string): Promise<void> {
  await repository.unlock({ all: true }, signal);
  const result = await repository.check({ readData: { part: 1, of: 1 } }, signal);
  deepEqual(result.problems, [], message);
  for (const { id } of await repository.snapshots(signal)) {
    ok((await restored(repository, id)).length > 0, message);
  }
}

/** Runs `work` with a fault at each of its calls, then `verify`. */
async function atEachCall(
  storage: MemoryStorage,
  faults: readonly (Fault | "crash")[],
  work: () => Promise<unknown>,
  verify: (message: string, hasFailed: boolean) => Promise<void>,
): Promise<void> {
  const start = new Map(storage.files);
  for (const fault of faults) {
    for (let at = 1;; at++) {
      storage.reset(start);
      let count = 0;
      let call = "";
      storage.onCall(({ method, kind }) => {
        count += 1;
        if (count === at) call = `${method} ${kind}`;
        const isWriteFault = fault === "lost" || fault === "cut" || fault === "altered";
        if (fault === "crash") return count >= at ? "fails" : undefined;
        return count === at && (!isWriteFault || method === "write") ? fault : undefined;
      });
      const failure = await work().then(() => undefined, (error) => error);
      storage.onCall(() => undefined);
      if (call === "") break;
      const message = `${fault} at call ${at}, ${call}`;
      ok(
        failure === undefined || failure instanceof StorageError ||
          failure instanceof RepositoryError,
        `${message}: ${failure?.stack}`,
      );
      await verify(message, failure !== undefined);
    }
  }
}

Deno.test("a backup with a fault at any call leaves a valid repository, which the next one completes", async () => {
  const storage = createMemoryStorage();
  const repository = await newRepository(storage);
  await backUp(repository, before);
  // A call that fails is the first of a crash, and a file that is cut is an altered one.
  const faults = ["crash", "answerLost", "lost", "altered"] as const;
  await atEachCall(storage, faults, () => backUp(repository, after), async (message) => {
    await assertWhole(repository, message);
    const { snapshot } = await backUp(repository, after);
    equal(
      (await restored(repository, snapshot.id)).find(({ path }) => path === "data/c")?.type,
      "file",
    );
  });
});

long(Deno.test)(
  "a prune with a fault at any call loses nothing, and the next one completes it",
  async () => {
    const storage = createMemoryStorage();
    const repository = await newRepository(storage);
    const first = await backUp(repository, before);
    const second = await backUp(repository, after);
    await repository.removeSnapshots([first.snapshot.id], signal);
    const expected = await restored(repository, second.snapshot.id);
    const faults = ["crash", "answerLost", "lost", "altered"] as const;
    const prune = () => repository.prune({ maxUnusedPercent: 0 }, signal);
    await atEachCall(storage, faults, prune, async (message) => {
      await assertWhole(repository, message);
      deepEqual(await restored(repository, second.snapshot.id), expected, message);
      const { bytesUnused } = await prune();
      equal(bytesUnused, 0, message);
      equal((await prune()).packsRemoved, 0, message);
    });
  },
);

Deno.test("an interrupted backup is reused: its packs are not written again", async () => {
  const storage = createMemoryStorage();
  const repository = await newRepository(storage);
  const large = Array.from({ length: 3 }, (_, i) => {
    const bytes = new Uint8Array(12 << 20);
    for (let at = 0; at < bytes.length; at += 65_536) {
      crypto.getRandomValues(bytes.subarray(at, at + 65_536));
    }
    return fileEntry(`file${i}`, bytes);
  });
  let packs = 0;
  storage.onCall(({ method, kind }) =>
    method === "write" && kind === "data" && ++packs > 1 ? "fails" : undefined
  );
  await rejects(backUp(repository, large), StorageError);
  storage.onCall(() => undefined);
  equal(storage.keys("index").length, 0);
  const [pack] = storage.keys("data");

  const { bytesAdded, snapshot } = await backUp(repository, large);

  const total = large.reduce((sum, { size }) => sum + size, 0);
  ok(bytesAdded < total - 15 * (1 << 20), `${bytesAdded} of ${total}`);
  ok(storage.files.has(pack!));
  deepEqual(await restored(repository, snapshot.id), large);
});

Deno.test("a pack that the target lost later is written again by the next backup", async () => {
  const storage = createMemoryStorage();
  const repository = await newRepository(storage);
  await backUp(repository, before);
  for (const key of storage.keys("data")) storage.files.delete(key);
  const { snapshot } = await backUp(repository, before);
  equal((await restored(repository, snapshot.id)).length, before.length);
});
