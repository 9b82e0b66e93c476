import { deepEqual } from "node:assert/strict";
import { compareNatural } from "../../../services/text/natural_order.ts";

Deno.test("names are in the order of their numbers, whatever their case", () => {
  const sorted = ["api", "Web", "web-2", "Web-10", "web-10", "web-10-a", "web-100", "worker"];
  deepEqual([...sorted].reverse().sort(compareNatural), sorted);
});
