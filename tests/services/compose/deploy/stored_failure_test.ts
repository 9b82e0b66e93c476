import { deepEqual } from "node:assert/strict";
import { failureOf } from "../../../../services/compose/deploy/stored_failure.ts";

Deno.test("a deploy that an older version began to roll back has a reason", () => {
  const stored = { reason: "web-1 exited with code 1", container: "web-1" };
  deepEqual(failureOf({ resultOf: () => stored }), stored);
  deepEqual(failureOf({ resultOf: () => stored.reason }), { ...stored, container: null });
});
