/**
 * A repository in a worker, because its work would block the event loop. The storage and the entries
 * stay in this thread.
 *
 * @module
 */

import { type EntryParts, fromParts, toParts } from "./entry_parts.ts";
import type { Repository, RepositoryOptions } from "./repository.ts";
import type { OpenMessage } from "./worker.ts";
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

/** In a worker of its own. */
export const openInWorker: OpenRepository = async (options, signal) =>
  await startRepository(await repositoryWorkerScript(), { ...options, creates: false }, signal);

/** Script of the worker. In an executable, which runs a bundle, it is next to the program. */
export async function repositoryWorkerScript(): Promise<URL> {
  if (import.meta.url.endsWith(".ts")) return new URL("./worker.ts", import.meta.url);
  const script = await Deno.readTextFile(new URL("repository_worker.js", import.meta.url));
  return new URL(`data:text/javascript,${encodeURIComponent(script)}`);
}

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
  { storage, password, holder, now, settleMs, retryMs, creates }: RepositoryOptions & {
    creates: boolean;
  },
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
    settleMs,
    retryMs,
    clockOffsetMs: now().getTime() - Date.now(),
    hasChecksum: storage.checksum !== undefined,
  };
  try {
    const opened = await call<{ id: string; version: number }>("open", [message], signal);
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
