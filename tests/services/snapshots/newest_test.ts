/** The snapshot of a stack that a drill tries out. @module */

import { equal } from "node:assert/strict";
import { hostname } from "node:os";
import { tagsOf } from "../../../services/backup/trees/tags.ts";
import { newestOf } from "../../../services/snapshots/drills/start.ts";
import type { Snapshot } from "../../../services/backup/restic/snapshot.ts";

/** Of stack shop. */
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
  equal(newestOf("shop", [first, second, kept])?.id, "second");
  equal(newestOf("shop", [first, foreign, kept])?.id, "first");
  equal(newestOf("shop", [foreign, kept])?.id, "foreign");
  const tags = tagsOf({ stack: "shop", reason: "manual", note: null, isReceived: true });
  equal(newestOf("shop", [first, snapshot("received", "manual", { tags })])?.id, "first");
  const replaced = snapshot("replaced", "undo");
  equal(newestOf("shop", [first, replaced])?.id, "first");
  equal(newestOf("shop", [foreign, replaced])?.id, "foreign");
  equal(newestOf("shop", [replaced])?.id, "replaced");
  equal(newestOf("shop", [kept]), undefined);
  equal(newestOf("web", [first]), undefined);
});
