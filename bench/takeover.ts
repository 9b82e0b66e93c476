/**
 * Takeover of thirty stacks that are laid out as by five managers: the time from the first request to
 * the last stored stack, with every container as it was.
 *
 * @module
 */

import { deepEqual } from "node:assert/strict";
import { startDockerd } from "../tests/helpers/real_engine.ts";
import { takeoverHost } from "../tests/helpers/takeover_host.ts";
import { fillHost } from "../tests/helpers/takeover_layouts.ts";
import { printTable, printVerdict } from "./table.ts";

/** Turns of the five layouts; two more stacks are there once. */
const TURNS = 6;

const LIMIT_S = 60;

/** The default networks of an engine end at thirty. */
const POOL = "--default-address-pool=base=10.201.0.0/16,size=24";

export async function benchTakeover(): Promise<void> {
  await using engine = await startDockerd({ args: [POOL] });
  await using host = await takeoverHost(engine);
  await using filled = await fillHost(engine, host, TURNS);
  const names = filled.all.map(({ name }) => name);
  const before = await host.states();

  const startedAt = performance.now();
  const report = await host.scan();
  const scannedAt = performance.now();
  const { body } = await host.app.call("POST", "/api/takeover", { stacks: names });
  const job = await host.ended(body.id);
  const takenAt = performance.now();

  deepEqual([...job.result.taken].sort(), names.toSorted(), JSON.stringify(job));
  deepEqual(await host.states(), before);
  for (const name of names) {
    const plan = await host.app.call("POST", `/api/stacks/${name}/plan`, {});
    const changed = plan.body.changes.filter(({ action }: { action: string }) => action !== "none");
    deepEqual(changed, [], name);
  }
  printTable("Takeover of stacks, as the API shows it", [
    { step: "scan", stacks: report.stacks.length, seconds: (scannedAt - startedAt) / 1000 },
    { step: "takeover", stacks: names.length, seconds: (takenAt - scannedAt) / 1000 },
  ]);
  printVerdict("scan and takeover", (takenAt - startedAt) / 1000, LIMIT_S, " s");
}
