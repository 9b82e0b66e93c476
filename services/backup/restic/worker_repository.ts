/**
 * A repository in a worker, because its work would block the event loop. The storage and the entries
 * stay in this thread.
 *
 * @module
 */

import { randomText, sha256 } from "../../builtins.ts";
import { workerScript } from "../../config/worker_script.ts";
import { type EntryParts, fromParts, toParts } from "./entry_parts.ts";
import type { Repository, RepositoryOptions } from "./repository.ts";
import type { OpenedMessage, OpenMessage } from "./worker.ts";
import type { Id } from "./id.ts";
import { createPeer, type Message } from "./worker_peer.ts";

/**
 * Opens a repository.
 *
 * @throws As `openRepository`.
 */
export type OpenRepository = (
  options: RepositoryOptions,
  signal: AbortSignal,
) => Promise<WorkerRepository>;

/**
 * Opens each repository in a worker of its own. Keys are kept, because to derive one is slow on purpose.
 *
 * @param kept By a salted hash of the password that has opened them, so that no password stays in memory.
 */
export function createRepositoryOpener(
  kept = new Map<string, Map<Id, Uint8Array>>(),
): OpenRepository {
  const salt = randomText(16);
  return async (options, signal) => {
    const hash = sha256(salt + options.password);
    const openedKeys = kept.get(hash) ?? new Map<Id, Uint8Array>();
    const all = { ...options, openedKeys, creates: false };
    const repository = await startRepository(await repositoryWorkerScript(), all, signal);
    kept.set(hash, openedKeys);
    return repository;
  };
}

/** Script of the worker. */
export const repositoryWorkerScript = (): Promise<URL> =>
  workerScript(new URL("./worker.ts", import.meta.url), "repository_worker.js");

/** A repository that must be closed. */
export interface WorkerRepository extends Repository, Disposable {
  /** Ends the worker; operations under way fail. */
  close(): void;
}

/**
 * Opens a repository, or creates one, in a worker of its own.
 *
 * @param script From {@linkcode repositoryWorkerScript}.
 * @throws As `openRepository` and `createRepository`.
 */
export async function startRepository(
  script: URL,
  { storage, password, holder, now, settleMs, retryMs, creates, openedKeys = new Map() }:
    & RepositoryOptions
    & { creates: boolean },
  signal: AbortSignal,
): Promise<WorkerRepository> {
  const worker = new Worker(script, { type: "module" });
  await hasStarted(worker);
  const peer = createPeer({
    send: (message, transfer) => worker.postMessage(message, transfer),
    listen(receive) {
      worker.onmessage = ({ data }: MessageEvent<Message>) => receive(data);
    },
  }, {
    "storage.list": ([kind], callSignal) => storage.list(kind, callSignal),
    "storage.read": ([kind, name, range], callSignal) =>
      storage.read(kind, name, callSignal, range),
    "storage.write": ([kind, name, bytes], callSignal) =>
      storage.write(kind, name, bytes, callSignal),
    "storage.remove": ([kind, name], callSignal) => storage.remove(kind, name, callSignal),
    "storage.checksum": ([kind, name], callSignal) => storage.checksum?.(kind, name, callSignal),
  });
  worker.onerror = (event) => {
    event.preventDefault();
    peer.fail(new Error("The worker of the repository failed", { cause: event.message }));
  };
  const close = () => {
    peer.fail(new Error("The repository was closed"));
    worker.terminate();
  };

  const call = <T>(method: string, args: unknown[], callSignal: AbortSignal) =>
    peer.call(method, args, callSignal) as Promise<T>;
  async function* stream<T>(method: string, args: unknown[], callSignal: AbortSignal) {
    yield* await call<AsyncIterable<T>>(method, args, callSignal);
  }

  const message: OpenMessage = {
    password,
    holder,
    creates,
    openedKeys,
    settleMs,
    retryMs,
    clockOffsetMs: now().getTime() - Date.now(),
    hasChecksum: storage.checksum !== undefined,
  };
  try {
    const { openedKeys: found, ...opened } = await call<OpenedMessage>("open", [message], signal);
    for (const [name, raw] of found) openedKeys.set(name, raw);
    return {
      ...opened,
      locked: (options, callSignal) => stream("locked", [options], callSignal),
      backup(entries, options, callSignal) {
        const parts = toParts(entries, { asks: options.parent !== undefined });
        return call("backup", [parts, options], callSignal);
      },
      snapshots: (callSignal) => call("snapshots", [], callSignal),
      snapshot: (id, callSignal) => call("snapshot", [id], callSignal),
      async *entries(id, options, callSignal) {
        yield* fromParts(await call<EntryParts>("entries", [id, options], callSignal));
      },
      listEntries: (id, paths, callSignal) => stream("listEntries", [id, paths], callSignal),
      listDirectory: (id, path, callSignal) => stream("listDirectory", [id, path], callSignal),
      readFile: (id, path, options, callSignal) =>
        stream("readFile", [id, path, options], callSignal),
      diff: (before, after, callSignal) => stream("diff", [before, after], callSignal),
      removeSnapshots: (ids, callSignal, options = {}) =>
        call("removeSnapshots", [ids, options], callSignal),
      prune: (options, callSignal) => call("prune", [options], callSignal),
      check: (options, callSignal) => call("check", [options], callSignal),
      unlock: (options, callSignal) => call("unlock", [options], callSignal),
      keys: (callSignal) => stream("keys", [], callSignal),
      addKey: (newPassword, callSignal) => call("addKey", [newPassword], callSignal),
      close,
      [Symbol.dispose]: close,
    };
  } catch (error) {
    close();
    throw error;
  }
}

function hasStarted(worker: Worker): Promise<void> {
  return new Promise((resolve, reject) => {
    worker.onmessage = () => resolve();
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new Error("The worker of the repository did not start", { cause: event.message }));
    };
  });
}
