/** Repositories of tests, and the entries that go in and out. @module */

import type { Entries, Entry } from "../../services/backup/restic/entry.ts";
import {
  createRepository,
  openRepository,
  type Repository,
} from "../../services/backup/restic/repository.ts";
import type { Storage } from "../../services/backup/restic/storage.ts";
import "./remembered_keys.ts";

export const PASSWORD = "correct horse";

/** A signal that is never aborted. */
export const signal = new AbortController().signal;

/** Options of a backup. */
export const description = {
  paths: ["/data"],
  tags: ["longshore"],
  hostname: "host1",
  username: "longshore",
};

/** Options of a repository at a storage. */
export const optionsOf = (storage: Storage, now = () => new Date()) => ({
  storage,
  password: PASSWORD,
  now,
  settleMs: 0,
  holder: {
    hostname: "host1",
    username: "longshore-test",
    uid: 0,
    gid: 0,
    pid: Deno.pid,
    startedAt: new Date(0),
  },
});

export const newRepository = (storage: Storage, now?: () => Date): Promise<Repository> =>
  createRepository(optionsOf(storage, now), signal);

export const joinRepository = (storage: Storage): Promise<Repository> =>
  openRepository(optionsOf(storage), signal);

/** An entry with its content in memory. */
export type TestEntry = Omit<Entry, "content"> & { bytes?: Uint8Array };

/** A file with the fields that a test does not care about. */
export const fileEntry = (path: string, content: string | Uint8Array): TestEntry => {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  return { path, type: "file", mode: 0o644, uid: 0, gid: 0, mtime: 0n, size: bytes.length, bytes };
};

export const directoryEntry = (path: string): TestEntry => ({
  path,
  type: "dir",
  mode: 0o755,
  uid: 0,
  gid: 0,
  mtime: 0n,
  size: 0,
});

/** Entries as a backup gets them. */
export async function* entriesOf(entries: readonly TestEntry[]): Entries {
  for (const { bytes, ...entry } of entries) {
    yield bytes === undefined ? entry : { ...entry, content: pieces(bytes) };
  }
}

async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += 300_000) {
    yield bytes.slice(start, start + 300_000);
  }
}

/** Reads entries with their content, by path. */
export async function collect(entries: Entries): Promise<TestEntry[]> {
  const collected: TestEntry[] = [];
  for await (const { content, ...entry } of entries) {
    if (content === undefined) collected.push(entry);
    else {
      const blob = new Blob(await Array.fromAsync(content) as BlobPart[]);
      collected.push({ ...entry, bytes: await blob.bytes() });
    }
  }
  return collected.sort((a, b) => a.path < b.path ? -1 : 1);
}

/** All entries of a snapshot. */
export const restored = (repository: Repository, snapshot: string): Promise<TestEntry[]> =>
  collect(repository.entries(snapshot, {}, signal));
