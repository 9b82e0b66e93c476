/**
 * Reading and writing a large volume: the memory of the process, and the time next to the engine's own
 * archive calls of the command line.
 *
 * @module
 */

import type { Entry } from "../services/backup/restic/entry.ts";
import { openVolume } from "../services/backup/volumes/read.ts";
import { createVolume, writeVolume } from "../services/backup/volumes/write.ts";
import { liveApp } from "../tests/helpers/live_app.ts";
import { BUSYBOX, type RealEngine } from "../tests/helpers/real_engine.ts";
import { printTable, printVerdict } from "./table.ts";

const SIZE_MB = 500;

/** Interval between two readings of the memory, in milliseconds. */
const SAMPLE_MS = 20;

const FILL = `head -c ${SIZE_MB * 1024 * 1024} /dev/zero > /data/large
mkdir /data/small; cd /data/small; for n in $(seq 2000); do echo $n > $n; done`;

export async function benchVolumes(engine: RealEngine): Promise<void> {
  const names = [1, 2].map((n) => `longshore-bench-${n}`);
  const [from, to] = names as [string, string];
  await using app = await liveApp(engine.socketPath);
  const { deps } = app;
  const { signal } = new AbortController();
  const source = (name: string) => ({ type: "volume", source: name }) as const;
  try {
    for (const name of names) await createVolume(deps, { name }, { signal });
    const filled = await engine.docker(
      "create",
      `--volume=${from}:/data`,
      BUSYBOX,
      "sh",
      "-c",
      FILL,
    );
    await engine.docker("start", "--attach", filled);
    // A container answers one call for files at a time.
    const target = await engine.docker("create", `--volume=${to}:/data`, BUSYBOX);
    const rows: Record<string, string | number>[] = [];
    const measure = async (work: string, alone: string, ours: () => Promise<unknown>) => {
      const aloneS = await timed(() => shell(engine, alone, [filled, target]));
      const before = rssMb();
      const memory = watchMemory();
      const oursS = await timed(ours);
      const peak = memory.end();
      rows.push({
        [`${SIZE_MB} MB and 2,000 files`]: work,
        "docker cp s": aloneS,
        "Longshore s": oursS,
        "RSS MB before": before,
        "RSS MB most": peak,
      });
      printVerdict(`memory of ${work}`, peak - before, 150, " MB");
    };
    await measure("read", 'docker cp "$1:/data" - > /dev/null', async () => {
      const { entries } = await openVolume(deps, source(from), { signal });
      for await (const { content } of entries) for await (const _ of content ?? []);
    });
    const copy = `docker cp "$1:/data" - | docker cp - "$2:/tmp"`;
    await measure("copy", copy, async () => {
      const { entries } = await openVolume(deps, source(from), { signal });
      await writeVolume(deps, source(to), entries as AsyncIterable<Entry>, { signal });
    });
    await engine.docker("rm", filled, target);
    printTable("Volumes", rows);
  } finally {
    await engine.docker("volume", "rm", "--force", ...names);
  }
}

const rssMb = () => Math.round(Deno.memoryUsage().rss / 1024 / 1024);

function watchMemory() {
  let most = 0;
  const timer = setInterval(() => most = Math.max(most, rssMb()), SAMPLE_MS);
  return {
    end() {
      clearInterval(timer);
      return Math.max(most, rssMb());
    },
  };
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return Math.round((performance.now() - start) / 10) / 100;
}

async function shell({ socketPath }: RealEngine, script: string, ids: string[]): Promise<void> {
  const { success, stderr } = await new Deno.Command("sh", {
    args: ["-euc", script, "sh", ...ids],
    env: { DOCKER_HOST: `unix://${socketPath}` },
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}
