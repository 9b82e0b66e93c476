import { deepEqual, equal, throws } from "node:assert/strict";
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

Deno.test("a restore needs the room of its files, as far as that is known", async () => {
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
    directoryEntry("images"),
    fileEntry("images/1.tar", new Uint8Array(2 * MB)),
    directoryEntry("volumes"),
    directoryEntry("volumes/a"),
    fileEntry("volumes/a/file", new Uint8Array(3 * MB)),
    directoryEntry("volumes/b"),
  ]);
  const options = { ...description, paths: ["/volumes/a", "/volumes/b"] };
  const { snapshot } = await repository.backup(entries, options, signal);
  const roomOf = (...parts: ReturnType<typeof volumePart>[]) =>
    readRestoreRoom(app.deps, { repository, snapshot }, parts.map(restoredPart));
  const whole = await roomOf(volumePart("a"), volumePart("b"));
  equal(whole.needed, 2 * MB);
  equal(whole.free! > 0, true);
  assertRoomToRestore(whole);
  throws(() => assertRoomToRestore({ needed: 3 * MB, free: MB }), { code: "conflict" });
  for (const parts of [[volumePart("a")], [volumePart("a"), directoryPart("/opt")]]) {
    const room = await roomOf(...parts);
    deepEqual(room, { needed: null, free: room.free });
    assertRoomToRestore({ ...room, free: 0 });
  }
  Options.device = "nas:/data";
  equal((await roomOf(volumePart("a"), volumePart("b"))).needed, null, "one is on another disk");
});
