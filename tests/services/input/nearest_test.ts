import { equal } from "node:assert/strict";
import { nearest } from "../../../services/input/nearest.ts";

const KNOWN = ["name", "durationSeconds", "autoIncident", "limit", "pull", "t"];

for (
  const [given, meant] of [
    ["autoincident", "autoIncident"],
    ["auto_incident", "autoIncident"],
    ["duration", "durationSeconds"],
    ["limti", "limit"],
    ["limt", "limit"],
    ["poll", "pull"],
    ["names", "name"],
    ["x", undefined],
    ["health", undefined],
    ["", undefined],
    ["x".repeat(100_000), undefined],
  ] as const
) {
  Deno.test(`the known name nearest to ${given.slice(0, 20)} is ${meant ?? "none"}`, () => {
    equal(nearest(given, KNOWN), meant);
  });
}
