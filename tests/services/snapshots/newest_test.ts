/** The snapshot of a stack that a drill tries out. @module */

import { equal } from "node:assert/strict";
import { hostname } from "node:os";
import { tagsOf } from "../../../services/backup/trees/tags.ts";
import { newestOf } from "../../../services/snapshots/drills/start.ts";
import type { Snapshot } from "../../../services/backup/restic/snapshot.ts";

const SERVER = { server: { id: "1", name: "host" } };

/** Of stack shop, as an earlier version made it. */
const snapshot = (id: string, reason: "manual" | "update" | "undo", more: Partial<Snapshot> = {}) =>
  ({
    id,
    hostname: hostname(),
    paths: ["/volumes/shop_data", ...reason === "update" ? [] : ["/stacks/shop"]],
    tags: tagsOf({ stack: "shop", reason, note: null }),
    ...more,
  }) as Snapshot;

Deno.test("a drill tries out the stack's newest backup, not what an update or a restore has kept", () => {
  const first = snapshot("first", "manual");
  const second = snapshot("second", "manual");
  const kept = snapshot("kept", "update");
  const foreign = snapshot("foreign", "manual", { hostname: "elsewhere" });
  equal(newestOf(SERVER, "shop", [first, second, kept])?.id, "second");
  equal(newestOf(SERVER, "shop", [first, foreign, kept])?.id, "first");
  equal(newestOf(SERVER, "shop", [foreign, kept])?.id, "foreign");
  const tags = tagsOf({ stack: "shop", reason: "manual", note: null, isReceived: true });
  equal(newestOf(SERVER, "shop", [first, snapshot("received", "manual", { tags })])?.id, "first");
  const replaced = snapshot("replaced", "undo");
  equal(newestOf(SERVER, "shop", [first, replaced])?.id, "first");
  equal(newestOf(SERVER, "shop", [foreign, replaced])?.id, "foreign");
  equal(newestOf(SERVER, "shop", [replaced])?.id, "replaced");
  equal(newestOf(SERVER, "shop", [kept]), undefined);
  equal(newestOf(SERVER, "web", [first]), undefined);
});
