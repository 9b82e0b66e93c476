import { deepEqual, equal } from "node:assert/strict";
import { shownLabels } from "../../../services/containers/shown_labels.ts";

Deno.test("lists show labels as they are", () => {
  const labels = { a: "b", "com.docker.compose.project": "shop", empty: "" };
  deepEqual(shownLabels(labels), labels);
});

Deno.test("lists show at most 100 labels, 16 KiB of them, and the start of long values", () => {
  const numbered = (count: number, value: string) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`label${index}`, value]));

  equal(Object.keys(shownLabels(numbered(500, "a"))).length, 100);
  equal(Object.keys(shownLabels(numbered(90, "a".repeat(1_000)))).length, 16);
  equal(shownLabels({ a: "b".repeat(5_000) }).a, `${"b".repeat(1_024)}…`);
  deepEqual(shownLabels({ ["a".repeat(256)]: "b", c: "d" }), { c: "d" });
});
