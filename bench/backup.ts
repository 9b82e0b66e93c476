/**
 * Backup and restore of a directory, next to the real restic on the same directory: speed, memory of the
 * service and pauses of its event loop.
 *
 * @module
 */

import { join } from "node:path";
import type { Entries } from "../services/backup/restic/entry.ts";
import {
  repositoryWorkerScript,
  startRepository,
} from "../services/backup/restic/worker_repository.ts";
import { createDirectoryStorage } from "../services/backup/storages/directory.ts";
import { description, optionsOf, signal } from "../tests/helpers/repository.ts";
import { restic } from "../tests/helpers/restic.ts";
import { median, printTable, printVerdict } from "./table.ts";

const ROUNDS = 3;

/** Half of restic's speed. */
const TIME_RATIO_MAX = 2;

const PAUSE_MAX_MS = 50;

/** Memory that a backup may add, in MB. */
const MEMORY_MAX_MB = 150;

const LARGE_FILES = 4;
const LARGE_BYTES = 32 << 20;
const SMALL_FILES = 1_500;

interface Times {
  backupMs: number;
  restoreMs: number;
}

export async function benchBackup(): Promise<void> {
  const directory = await Deno.makeTempDir();
  try {
    const source = join(directory, "source");
    await fillSource(source);
    const memoryBefore = Deno.memoryUsage().rss;
    let memoryMax = 0;
    let pauseMs = 0;
    let lastAt = performance.now();
    const observer = setInterval(() => {
      memoryMax = Math.max(memoryMax, Deno.memoryUsage().rss);
      pauseMs = Math.max(pauseMs, performance.now() - lastAt - 10);
      lastAt = performance.now();
    }, 10);
    const theirs: Times[] = [];
    const ours: Times[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      theirs.push(await measureRestic(source, join(directory, `restic${round}`)));
      lastAt = performance.now();
      ours.push(await measureOurs(source, join(directory, `ours${round}`)));
    }
    clearInterval(observer);
    const rows = (["backupMs", "restoreMs"] as const).map((field) => {
      const [their, our] = [theirs, ours].map((list) => median(list.map((times) => times[field])));
      return { what: field.slice(0, -2), "restic ms": their!, "Longshore ms": our! };
    });
    printTable("Backup and restore of 137 MB, by restic and by Longshore", rows);
    for (const row of rows) {
      const ratio = row["Longshore ms"] / row["restic ms"];
      printVerdict(`${row.what}, times restic's time`, ratio, TIME_RATIO_MAX);
    }
    const addedMb = (memoryMax - memoryBefore) / 1e6;
    printVerdict("memory added", addedMb, MEMORY_MAX_MB, " MB");
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

async function measureOurs(source: string, directory: string): Promise<Times> {
  const storage = createDirectoryStorage(join(directory, "repository"), { now: () => new Date() });
  const options = { ...optionsOf(storage), settleMs: 200, creates: true };
  using repository = await startRepository(await repositoryWorkerScript(), options, signal);
  let snapshot = "";
  const times = {
    backupMs: await time(async () => {
      const result = await repository.backup(entriesIn(source, ""), description, signal);
      snapshot = result.snapshot.id;
    }),
    restoreMs: await time(() =>
      writeEntries(repository.entries(snapshot, {}, signal), join(directory, "out"))
    ),
  };
  await Deno.remove(directory, { recursive: true });
  return times;
}

async function* entriesIn(directory: string, prefix: string): Entries {
  for await (const { name, isDirectory } of Deno.readDir(directory)) {
    const path = join(directory, name);
    const { size, uid, gid, mtime } = await Deno.stat(path);
    const common = {
      path: `${prefix}${name}`,
      mode: 0o755,
      uid: uid ?? 0,
      gid: gid ?? 0,
      mtime: BigInt(mtime?.getTime() ?? 0) * 1_000_000n,
    };
    if (isDirectory) {
      yield { ...common, type: "dir", size: 0 };
      yield* entriesIn(path, `${prefix}${name}/`);
    } else {
      yield { ...common, type: "file", size, content: read(path) };
    }
  }
}

async function* read(path: string): AsyncGenerator<Uint8Array> {
  using file = await Deno.open(path);
  for (;;) {
    const bytes = new Uint8Array(262_144);
    const length = await file.read(bytes);
    if (length === null) return;
    yield bytes.subarray(0, length);
  }
}

async function writeEntries(entries: Entries, directory: string): Promise<void> {
  await Deno.mkdir(directory);
  for await (const { path, type, content } of entries) {
    const target = join(directory, path);
    if (type === "dir") await Deno.mkdir(target);
    if (content === undefined) continue;
    using file = await Deno.open(target, { write: true, create: true });
    for await (const bytes of content) {
      for (let at = 0; at < bytes.length;) at += await file.write(bytes.subarray(at));
    }
  }
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
