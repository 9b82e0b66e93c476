import { deepEqual, rejects } from "node:assert/strict";
import {
  repositoryWorkerScript,
  startRepository,
} from "../../../../services/backup/restic/worker_repository.ts";
import { writeParts } from "../../../../services/backup/trees/write.ts";
import { createMemoryStorage } from "../../../helpers/memory_storage.ts";
import {
  description,
  entriesOf,
  joinRepository,
  optionsOf,
  signal,
} from "../../../helpers/repository.ts";
import { testApp } from "../../../helpers/test_app.ts";

Deno.test("no prune of another process begins while parts are written", async () => {
  using app = testApp();
  const storage = createMemoryStorage();
  const options = { ...optionsOf(storage), creates: true };
  using repository = await startRepository(await repositoryWorkerScript(), options, signal);
  const { snapshot: { id: snapshot } } = await repository.backup(
    entriesOf([]),
    description,
    signal,
  );
  const other = await joinRepository(storage);
  const begin = () => rejects(other.removeSnapshots([], signal), { reason: "locked" });
  const request = { snapshot, parts: [], files: null, emptiedWith: null, begin };
  await writeParts(app.deps, repository, request, { signal, progress() {} });
  deepEqual(storage.keys("locks"), []);
});
