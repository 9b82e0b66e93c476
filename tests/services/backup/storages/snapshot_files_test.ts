import { deepEqual, equal, rejects } from "node:assert/strict";
import { createSnapshotFiles } from "../../../../services/backup/storages/snapshot_files.ts";
import { createMemoryStorage } from "../../../helpers/memory_storage.ts";
import {
  description,
  entriesOf,
  fileEntry,
  joinRepository,
  newRepository,
  signal,
} from "../../../helpers/repository.ts";

/** A repository with snapshots, and how often its snapshot files are read. */
async function storedSnapshots(count: number) {
  const storage = createMemoryStorage();
  const repository = await newRepository(storage);
  for (let n = 0; n < count; n++) {
    await repository.backup(entriesOf([fileEntry("a", `${n}`)]), description, signal);
  }
  const reads: string[] = [];
  storage.onCall(({ method, kind, name }) => {
    if (method === "read" && kind === "snapshots") reads.push(name);
    return undefined;
  });
  return { storage, reads };
}

Deno.test("snapshots are read once, by any number of openings, and those that are removed are gone", async () => {
  const { storage, reads } = await storedSnapshots(3);
  const cached = createSnapshotFiles().cached(storage);
  const list = async () => (await (await joinRepository(cached)).snapshots(signal));
  const first = await list();
  equal(reads.length, 3);
  deepEqual(await list(), first);
  equal(reads.length, 3);

  const repository = await joinRepository(storage);
  await repository.removeSnapshots([first[1]!.id], signal);
  await repository.backup(entriesOf([fileEntry("b", "")]), description, signal);
  reads.length = 0;
  const ids = (await list()).map(({ id }) => id);
  deepEqual(ids.slice(0, 2), [first[0]!.id, first[2]!.id]);
  deepEqual(reads, [ids[2]]);
});

Deno.test("a snapshot file that is damaged is read again, and one repository's are not another's", async () => {
  const { storage, reads } = await storedSnapshots(1);
  const files = createSnapshotFiles();
  const [key] = storage.keys("snapshots");
  const whole = storage.files.get(key!)!;
  storage.files.set(key!, whole.slice(1));
  const repository = await joinRepository(files.cached(storage));
  await rejects(repository.snapshots(signal), { reason: "damaged" });
  storage.files.set(key!, whole);
  equal((await repository.snapshots(signal)).length, 1);
  equal(reads.length, 2);

  const other = await newRepository(files.cached(createMemoryStorage()));
  deepEqual(await other.snapshots(signal), []);
});

Deno.test("the files that were used longest ago are dropped", async () => {
  const storage = createMemoryStorage();
  const names: string[] = [];
  for (let n = 0; n < 200; n++) {
    const bytes = new Uint8Array(60_000).fill(n);
    const name = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes)).toHex();
    storage.files.set(`snapshots/${name}`, bytes);
    names.push(name);
  }
  let reads = 0;
  storage.onCall(() => void reads++);
  const cached = createSnapshotFiles().cached(storage);
  for (const name of names) await cached.read("snapshots", name, signal);
  equal(reads, 200);
  await cached.read("snapshots", names.at(-1)!, signal);
  equal(reads, 200);
  await cached.read("snapshots", names[0]!, signal);
  equal(reads, 201);
});
