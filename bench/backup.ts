/**
 * Backup and restore of a directory, next to the real restic on the same directory: speed, memory of the
 * service and pauses of its event loop.
 *
 * @module
 */

import { join } from "node:path";
import { RUN_FLAGS } from "../deploy/build/run_flags.ts";
import { restic } from "../tests/helpers/restic.ts";
import type { Figures } from "./backup_program.ts";
import { MALLOC } from "./programs.ts";
import { median, printTable, printVerdict } from "./table.ts";

const ROUNDS = 3;

/** Half of restic's speed. */
const TIME_RATIO_MAX = 2;

const PAUSE_MAX_MS = 50;

/** Memory that a backup or a restore may add, in MB. */
const MEMORY_MAX_MB = 150;

const LARGE_FILES = 4;
const LARGE_BYTES = 32 << 20;
const SMALL_FILES = 1_500;

type Times = Pick<Figures, "backupMs" | "restoreMs">;

export async function benchBackup(): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    const source = join(directory, "source");
    await fillSource(source);
    const theirs: Times[] = [];
    const ours: Figures[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      theirs.push(await measureRestic(source, join(directory, `restic${round}`)));
      ours.push(await measureOurs(source, join(directory, `ours${round}`)));
    }
    const middle = <Field extends string>(list: Record<Field, number>[], field: Field) =>
      median(list.map((figures) => figures[field]));
    const rows = (["backupMs", "restoreMs"] as const).map((field) => ({
      what: field.slice(0, -2),
      "restic ms": middle(theirs, field),
      "Longshore ms": middle(ours, field),
    }));
    printTable("Backup and restore of 137 MB, by restic and by Longshore", rows);
    for (const row of rows) {
      const ratio = row["Longshore ms"] / row["restic ms"];
      printVerdict(`${row.what}, times restic's time`, ratio, TIME_RATIO_MAX);
    }
    printVerdict("memory added", middle(ours, "memoryMb"), MEMORY_MAX_MB, " MB");
    const pauseMs = middle(ours, "pauseMs");
    printVerdict("longest pause of the event loop", pauseMs, PAUSE_MAX_MS, " ms");
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

async function time(work: () => Promise<unknown>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

async function measureRestic(source: string, directory: string): Promise<Times> {
  await Deno.mkdir(directory);
  const root = join(directory, "repository");
  await restic(root, ["init"], { cwd: directory });
  const target = join(directory, "out");
  const times = {
    backupMs: await time(() => restic(root, ["backup", "."], { cwd: source })),
    restoreMs: await time(() => restic(root, ["restore", "latest", "--target", target])),
  };
  await Deno.remove(directory, { recursive: true });
  return times;
}

/** In a process of its own, with the flags of the service. */
async function measureOurs(source: string, directory: string): Promise<Figures> {
  await Deno.mkdir(directory);
  const program = new URL("./backup_program.ts", import.meta.url).pathname;
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--frozen", ...RUN_FLAGS, program, source, directory],
    env: MALLOC,
    stderr: "inherit",
  }).output();
  if (!success) throw new Error("The backup failed");
  await Deno.remove(directory, { recursive: true });
  return JSON.parse(new TextDecoder().decode(stdout));
}

/** Half random bytes, half text, in large and small files. */
async function fillSource(source: string): Promise<void> {
  await Deno.mkdir(join(source, "small"), { recursive: true });
  const text = new TextEncoder().encode(
    "2026-01-01 request 4711 of user 42 took 13 ms\n".repeat(8),
  );
  for (let n = 0; n < LARGE_FILES; n++) {
    const bytes = new Uint8Array(LARGE_BYTES);
    for (let at = 0; at < bytes.length; at += 65_536) {
      const block = bytes.subarray(at, at + 65_536);
      if (n % 2 === 0) crypto.getRandomValues(block);
      else for (let i = 0; i < block.length; i++) block[i] = text[(i * 7 + at) % text.length]!;
    }
    await Deno.writeFile(join(source, `large${n}`), bytes);
  }
  for (let n = 0; n < SMALL_FILES; n++) {
    const bytes = crypto.getRandomValues(new Uint8Array(1 + (n * 37) % 12_000));
    await Deno.writeFile(join(source, "small", `file${n}`), bytes);
  }
}
