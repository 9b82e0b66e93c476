/**
 * Time from the start to the first response, and idle memory, next to an empty app on the same
 * framework.
 *
 * @module
 */

import type { RealEngine } from "../tests/helpers/real_engine.ts";
import { bundlePrograms, start } from "./programs.ts";
import { median, printTable, printVerdict } from "./table.ts";

const RUNS = 9;
const IDLE_MS = 20_000;

export async function benchStart(engine: RealEngine): Promise<void> {
  await using bundles = await bundlePrograms();
  const env = { DOCKER_HOST: `unix://${engine.socketPath}` };
  const measured: Record<"service" | "empty", number[]> = { service: [], empty: [] };
  for (let run = 0; run < RUNS; run++) {
    for (const name of ["service", "empty"] as const) {
      await using program = await start(bundles[name], env, { plain: name === "empty" });
      measured[name].push(program.startMs);
    }
  }

  await using service = await start(bundles.service, env);
  await using empty = await start(bundles.empty, {}, { plain: true });
  await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
  const memory = { service: await service.memoryMb(), empty: await empty.memoryMb() };

  printTable(`Start (median of ${RUNS}) and idle memory (after ${IDLE_MS / 1000} s)`, [
    { program: "Longshore", "first answer ms": median(measured.service), "RSS MB": memory.service },
    { program: "empty app", "first answer ms": median(measured.empty), "RSS MB": memory.empty },
  ]);
  printVerdict(
    "start to first answer, times the empty app",
    median(measured.service) / median(measured.empty),
    2.5,
  );
  printVerdict("idle memory above the empty app", memory.service - memory.empty, 36, " MB");
}
