import { deepEqual, throws } from "node:assert/strict";
import { insertJob, type Job } from "../../../db/jobs.ts";
import { volumePart } from "../../../services/backup/trees/part.ts";
import { estimateSnapshot } from "../../../services/snapshots/estimate.ts";
import { assertRoom } from "../../../services/snapshots/target_room.ts";
import { testApp } from "../../helpers/test_app.ts";

const MB = 1_000_000;

/** A backup of `shop` that has read `size` bytes in 20 s. */
const pastBackup = (targetId: string, size: number, createdAt: string, more = {}): Job => ({
  id: crypto.randomUUID(),
  kind: "backup.snapshot",
  targetType: "host",
  target: "shop",
  stack: null,
  status: "succeeded",
  progress: null,
  steps: [{
    name: "read",
    status: "succeeded",
    startedAt: "2026-01-01T12:00:00Z",
    endedAt: "2026-01-01T12:00:20Z",
    message: null,
  }],
  input: { targetId, ...more },
  error: null,
  result: { size },
  createdBy: "api-key",
  tokenId: null,
  createdAt,
  startedAt: createdAt,
  endedAt: createdAt,
});

Deno.test("a backup is estimated by the size of its volumes and the last backup", async () => {
  using app = testApp({ now: "2026-01-02T12:00:00Z" });
  const items = [{ name: "data", size: 300 * MB }, { name: "unknown", size: -1 }];
  const read = () => Promise.resolve({ usage: { volumes: { items } } });
  const deps = { ...app.deps, diskUsage: { ...app.deps.diskUsage, read } } as typeof app.deps;
  const estimate = (volumes: string[], targetId = "here") =>
    estimateSnapshot(deps, { parts: volumes.map(volumePart) }, { name: "shop", targetId });
  const none = { size: null, added: null, seconds: null, room: null, sqlite: null };

  deepEqual(await estimate(["unknown"]), none);
  deepEqual(await estimate(["data"]), { ...none, size: 300 * MB, added: 300 * MB });

  insertJob(app.deps.db, pastBackup("here", 100 * MB, "2026-01-01T12:00:00Z"));
  insertJob(app.deps.db, pastBackup("elsewhere", 200 * MB, "2026-01-01T13:00:00Z"));
  const known = { size: 300 * MB, seconds: 30, room: null, sqlite: null };
  deepEqual(await estimate(["data"]), { ...known, added: 200 * MB });
  deepEqual(await estimate(["data"], "new"), { ...known, added: 300 * MB });
  deepEqual(await estimate(["unknown"]), {
    size: 200 * MB,
    added: 100 * MB,
    seconds: 20,
    room: null,
    sqlite: null,
  });

  const withImages = { withImages: true };
  insertJob(app.deps.db, pastBackup("here", 900 * MB, "2026-01-01T14:00:00Z", withImages));
  deepEqual(await estimate(["unknown"]), { ...known, size: 200 * MB, seconds: 20, added: 0 });
});

Deno.test("a backup is refused if it may need more than the room that is left", () => {
  const facts = { size: 5 * MB, seconds: null };
  assertRoom({ ...facts, added: 5 * MB, room: 5 * MB }, "disk");
  assertRoom({ ...facts, added: null, room: 0 }, "disk");
  assertRoom({ ...facts, added: 5 * MB, room: null }, "disk");
  throws(() => assertRoom({ ...facts, added: 5 * MB, room: 3 * MB }, "disk"), {
    code: "conflict",
    message:
      "Target disk has 2.86 MiB left, and the backup may need 4.77 MiB; free room there, or choose " +
      "another target",
  });
});
