import { equal, throws } from "node:assert/strict";
import { directoryPart, restoredPart, volumePart } from "../../../services/backup/trees/part.ts";
import { assertRoomToRestore, readRestoreRoom } from "../../../services/snapshots/restore_room.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { createMemoryStorage } from "../../helpers/memory_storage.ts";
import {
  description,
  directoryEntry,
  entriesOf,
  fileEntry,
  newRepository,
  signal,
} from "../../helpers/repository.ts";
import { testApp } from "../../helpers/test_app.ts";

const MB = 1_000_000;

Deno.test("a restore needs the room of the files that it writes to the engine's disk", async () => {
  const Options: Record<string, string> = {};
  await using fake = fakeEngine({
    "GET /volumes": () => Response.json({ Volumes: [{ Name: "b", Driver: "local", Options }] }),
    "GET /info": () => Response.json({ DockerRootDir: "/" }),
    "GET /system/df": () =>
      Response.json({ Volumes: [{ Name: "b", UsageData: { Size: MB, RefCount: 1 } }] }),
  });
  using app = testApp({ engine: fake.engine });
  const repository = await newRepository(createMemoryStorage());
  const entries = entriesOf([
    directoryEntry("directories"),
    directoryEntry("directories/opt"),
    fileEntry("directories/opt/file", new Uint8Array(2 * MB)),
    directoryEntry("volumes"),
    directoryEntry("volumes/a"),
    fileEntry("volumes/a/file", new Uint8Array(3 * MB)),
    directoryEntry("volumes/b"),
    fileEntry("volumes/b/file", new Uint8Array(2 * MB)),
  ]);
  const { snapshot } = await repository.backup(entries, description, signal);
  const roomOf = (parts: ReturnType<typeof volumePart>[], files: string[] | null = null) => {
    const restored = { snapshot: snapshot.id, parts: parts.map(restoredPart), files };
    return readRestoreRoom(app.deps, repository, restored);
  };
  const whole = await roomOf([volumePart("a"), volumePart("b")]);
  equal(whole.needed, 4 * MB, "without what b has");
  equal(whole.free! > 0, true);
  assertRoomToRestore(whole);
  throws(() => assertRoomToRestore({ ...whole, free: MB }), { code: "conflict" });
  assertRoomToRestore({ ...whole, free: null });
  equal((await roomOf([volumePart("a"), directoryPart("/opt")])).needed, 3 * MB);
  equal((await roomOf([volumePart("b")], ["volumes/b/file"])).needed, null, "may replace one");
  Options.device = "nas:/data";
  equal((await roomOf([volumePart("b")])).needed, 0, "on another disk");
});
