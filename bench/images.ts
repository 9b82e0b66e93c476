/**
 * Transfer of a large image: the memory of the service while it loads and exports one, and the time
 * next to the engine alone.
 *
 * @module
 */

import type { RealEngine } from "../tests/helpers/real_engine.ts";
import { bundlePrograms, type Running, start, tokenOf } from "./programs.ts";
import { printTable, printVerdict } from "./table.ts";

const IMAGE = "longshore-bench/large:1";
const SIZE_MB = 2_048;

/** Interval between two readings of the memory, in milliseconds. */
const SAMPLE_MS = 50;

/** Idle time before the transfers, so that the start of the service does not count. */
const IDLE_MS = 8_000;

export async function benchImages(engine: RealEngine): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "longshore-bench-" });
  const archive = `${directory}/large.tar`;
  const shell = (script: string, env: Record<string, string> = {}) =>
    run(script, { DOCKER_HOST: `unix://${engine.socketPath}`, IMAGE, ARCHIVE: archive, ...env });
  try {
    await shell(`
      truncate --size=${SIZE_MB}M "${directory}/data"
      tar --directory="${directory}" --create data | docker import - "$IMAGE" > "${directory}/log"
      rm "${directory}/data"
      docker save --output="$ARCHIVE" "$IMAGE"`);
    await using bundles = await bundlePrograms();
    await using service = await start(bundles.service, {
      DOCKER_HOST: `unix://${engine.socketPath}`,
    });
    const env = {
      BASE: `http://127.0.0.1:${service.target.port}/api/images`,
      AUTH: `Authorization: Bearer ${await tokenOf(service)}`,
      PATH_OF_IMAGE: encodeURIComponent(IMAGE),
    };
    const call = 'curl -sS --fail-with-body -H "$AUTH" -o /dev/null';
    // Loads the code of the endpoints, which has nothing to do with the size of an image.
    await shell(`${call} "$BASE"`, env);
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const transfers = {
      load: {
        direct: 'docker load --quiet --input "$ARCHIVE"',
        ours: `${call} -H "Content-Type: application/x-tar" -X POST -T "$ARCHIVE" "$BASE/load"`,
      },
      export: {
        direct: 'docker save "$IMAGE" > /dev/null',
        ours: `${call} "$BASE/$PATH_OF_IMAGE/export"`,
      },
    };
    const rows = [];
    for (const [name, { direct, ours }] of Object.entries(transfers)) {
      const alone = await timed(() => shell(direct));
      const before = await service.memoryMb();
      const memory = watchMemory(service);
      const through = await timed(() => shell(ours, env));
      const peak = await memory.end();
      rows.push({
        transfer: `${name} ${SIZE_MB} MB`,
        "engine alone s": alone,
        "through Longshore s": through,
        "RSS MB before": before,
        "RSS MB most": peak,
      });
      printVerdict(`memory of ${name}`, peak - before, 20, " MB");
    }
    printTable("Images", rows);
  } finally {
    await shell('docker rmi --force "$IMAGE" || true');
    await Deno.remove(directory, { recursive: true });
  }
}

async function run(script: string, env: Record<string, string>): Promise<void> {
  const { success, stderr } = await new Deno.Command("bash", {
    args: ["-euo", "pipefail", "-c", script],
    env,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** @returns Seconds. */
async function timed(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

/** Reads the memory of a program until `end()`, which returns the highest value in MB. */
function watchMemory(program: Running) {
  let isRunning = true;
  const watching = (async () => {
    let most = 0;
    while (isRunning) {
      most = Math.max(most, await program.memoryMb());
      await new Promise((resolve) => setTimeout(resolve, SAMPLE_MS));
    }
    return most;
  })();
  return {
    end() {
      isRunning = false;
      return watching;
    },
  };
}
