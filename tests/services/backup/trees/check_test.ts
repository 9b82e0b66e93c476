import { deepEqual, rejects } from "node:assert/strict";
import { checkParts } from "../../../../services/backup/trees/check.ts";
import { directoryPart, restoredPart, volumePart } from "../../../../services/backup/trees/part.ts";
import { createMemoryStorage } from "../../../helpers/memory_storage.ts";
import {
  description,
  directoryEntry,
  entriesOf,
  fileEntry,
  newRepository,
  signal,
} from "../../../helpers/repository.ts";

Deno.test("parts of a snapshot are checked as they are written, without their content", async () => {
  const storage = createMemoryStorage();
  const repository = await newRepository(storage);
  const entries = entriesOf([
    directoryEntry("directories"),
    directoryEntry("directories/opt"),
    fileEntry("directories/opt/app.conf", "conf"),
    directoryEntry("volumes"),
    directoryEntry("volumes/data"),
    directoryEntry("volumes/data/dir"),
    fileEntry("volumes/data/dir/file", "content"),
    fileEntry("volumes/data/file", "more content"),
    { ...directoryEntry("volumes/data/sda"), type: "dev" },
    directoryEntry("volumes/sockets"),
    { ...directoryEntry("volumes/sockets/app"), type: "socket" },
  ]);
  const { snapshot: { id: snapshot } } = await repository.backup(entries, description, signal);
  const check = (parts: ReturnType<typeof volumePart>[], files: string[] | null = null) =>
    checkParts(repository, { snapshot, parts: parts.map(restoredPart), files }, signal);

  await rejects(check([volumePart("sockets"), volumePart("data")]), {
    code: "conflict",
    message: '/volumes/data: "sda" is a device node',
  });
  deepEqual(await check([volumePart("data")], ["volumes/data/dir/file"]), [7]);
  deepEqual(await check([volumePart("sockets"), directoryPart("/opt/app.conf")]), [0, 4]);
  await rejects(check([volumePart("lost")]), { code: "not_found" });
});
