/**
 * One backup and one restore of a directory in a process of its own, which prints {@linkcode Figures} as
 * JSON. Arguments: the directory, and one for the repository and what is restored.
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
import { readDirectory } from "../services/backup/volumes/directory.ts";
import { createSkipList } from "../services/backup/volumes/limits.ts";
import { description, optionsOf, signal } from "../tests/helpers/repository.ts";

/** Times from the password to the end, as those of a program that is started for each. */
export interface Figures {
  backupMs: number;
  restoreMs: number;
  /** Resident memory at its highest, less that before the first repository was opened. */
  memoryMb: number;
  /** Of the main thread's event loop. */
  pauseMs: number;
}

const OBSERVED_MS = 10;

if (import.meta.main) {
  const [source, directory] = Deno.args as [string, string];
  const storage = createDirectoryStorage(join(directory, "repository"), { now: () => new Date() });
  const options = { ...optionsOf(storage), settleMs: 200 };
  const script = await repositoryWorkerScript();
  (await startRepository(script, { ...options, creates: true }, signal)).close();

  const observer = observe();
  let snapshot = "";
  const backupMs = await time(async () => {
    using repository = await startRepository(script, { ...options, creates: false }, signal);
    snapshot = (await repository.backup(entriesIn(source), description, signal)).snapshot.id;
  });
  const restoreMs = await time(async () => {
    using repository = await startRepository(script, { ...options, creates: false }, signal);
    await writeEntries(repository.entries(snapshot, {}, signal), join(directory, "out"));
  });
  console.log(JSON.stringify({ backupMs, restoreMs, ...observer.end() } satisfies Figures));
}

async function time(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
}

function observe() {
  const before = Deno.memoryUsage().rss;
  let memoryMax = 0;
  let pauseMs = 0;
  let lastAt = performance.now();
  const timer = setInterval(() => {
    pauseMs = Math.max(pauseMs, performance.now() - lastAt - OBSERVED_MS);
    memoryMax = Math.max(memoryMax, Deno.memoryUsage().rss);
    lastAt = performance.now();
  }, OBSERVED_MS);
  return {
    end(): Pick<Figures, "memoryMb" | "pauseMs"> {
      clearInterval(timer);
      return { memoryMb: (memoryMax - before) / 1e6, pauseMs };
    },
  };
}

/** The entries as the service reads them with `VOLUMES_PATH`. */
async function* entriesIn(path: string): Entries {
  const readElsewhere = () => {
    throw new Error("All names are UTF-8");
  };
  const entries = readDirectory({ path, skipped: createSkipList(), readElsewhere, signal });
  for await (const entry of entries) if (entry.path !== "") yield entry;
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
