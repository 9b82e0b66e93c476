/**
 * Runs the drills of safe updates, deploys and the installation in full, and prints what they did as a
 * table for the README. The tests run a part of each.
 *
 *     deno task drill [SEED [WORD ...]]
 *
 * The seed chooses the random containers; default: a new one, which a failure prints. With words, only
 * the drills run whose path contains one of them.
 *
 * @module
 */

import { REPORT_VARIABLE, SEED_VARIABLE } from "./helpers/drill.ts";

const seed = Number(Deno.args[0] ?? crypto.getRandomValues(new Uint32Array(1))[0]);
if (!Number.isSafeInteger(seed) || seed <= 0) {
  console.error("The seed is a positive number");
  Deno.exit(2);
}

const DRILLS = [
  "real_engine/update_drill",
  "real_engine/update_undo",
  "real_engine/stack_drill",
  "real_engine/stack_undo",
  "real_engine/stack_generate",
  "deploy/release/install_test",
];
const words = Deno.args.length > 1 ? Deno.args.slice(1) : DRILLS;

const report = await Deno.makeTempFile({ prefix: "longshore-drill-" });
try {
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--frozen",
      "-A",
      new URL("run.ts", import.meta.url).pathname,
      ...words,
    ],
    env: {
      LONGSHORE_REQUIRE_ENGINE: "1",
      [SEED_VARIABLE]: String(seed),
      [REPORT_VARIABLE]: report,
    },
  }).spawn().status;
  const rows = (await Deno.readTextFile(report)).trim().split("\n").sort();
  console.log(["", "| drill | result |", "| --- | --- |", ...rows].join("\n"));
  Deno.exitCode = code;
} finally {
  await Deno.remove(report);
}
