import { deepEqual } from "node:assert/strict";
import { insertBackupTarget } from "../../../db/backup_targets.ts";
import { selectLastStackBackups } from "../../../db/last_backups.ts";
import { recordRestored } from "../../../services/snapshots/last_backups.ts";
import { backupTarget } from "../../helpers/backup_target.ts";
import { openTestDatabase } from "../../helpers/test_app.ts";

Deno.test("a restored stack has its last backup from before, unless a newer one is known", () => {
  const db = openTestDatabase();
  insertBackupTarget(db, backupTarget({ id: "share" }));
  const restore = (snapshot: string, madeAt: string) => {
    const input = { targetId: "share", snapshot, madeAt, size: 1_000 };
    recordRestored({ db }, { target: "shop", input });
    return selectLastStackBackups(db);
  };
  const moved = {
    ...{ subject: "stack shop", stack: "shop", targetId: "share", size: 1_000 },
    ...{ snapshot: "40dc1520", at: "2026-01-02T03:00:00.000Z" },
  };
  deepEqual(restore(moved.snapshot, moved.at), [moved]);
  deepEqual(restore("0a1b2c3d", "2026-01-01T03:00:00.000Z"), [moved]);
});
