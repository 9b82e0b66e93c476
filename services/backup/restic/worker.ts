/**
 * The script of the worker that has a repository, see `worker_repository.ts`. Its storage is in the
 * thread that started it.
 *
 * @module
 */

import { type EntryParts, fromParts, toParts } from "./entry_parts.ts";
import type { Id } from "./id.ts";
import type { LockHolder } from "./lock.ts";
import { createRepository, openRepository, type Repository } from "./repository.ts";
import type { Storage } from "./storage.ts";
import { createPeer, type Peer } from "./worker_peer.ts";
import { slowly } from "./progress.ts";

/** Values by which a repository is opened. */
export interface OpenMessage {
  password: string;
  holder: LockHolder;
  creates: boolean;
  openedKeys: Map<Id, Uint8Array>;
  settleMs: number | undefined;
  retryMs: number | undefined;
  /** Milliseconds by which the clock of the service differs from the system's. */
  clockOffsetMs: number;
  hasChecksum: boolean;
}

/** Facts about an opened repository, and its key. */
export interface OpenedMessage extends Pick<Repository, "id" | "version"> {
  openedKeys: Map<Id, Uint8Array>;
}

let repository: Repository | undefined;

/** The global scope of a worker, which is not in the types of the project. */
const scope = globalThis as unknown as {
  postMessage(message: unknown, transfer?: Transferable[]): void;
  onmessage: (event: MessageEvent) => void;
};

const peer: Peer = createPeer({
  send: (message, transfer) => scope.postMessage(message, transfer),
  listen(receive) {
    scope.onmessage = ({ data }) => receive(data);
  },
}, {
  async open([message], signal): Promise<OpenedMessage> {
    const { password, holder, creates, openedKeys, settleMs, retryMs, clockOffsetMs } =
      message as OpenMessage;
    const open = creates ? createRepository : openRepository;
    repository = await open({
      storage: remoteStorage(message),
      password,
      holder,
      openedKeys,
      now: () => new Date(Date.now() + clockOffsetMs),
      ...(settleMs !== undefined && { settleMs }),
      ...(retryMs !== undefined && { retryMs }),
    }, signal);
    return { id: repository.id, version: repository.version, openedKeys };
  },
  locked: ([options], signal) => repository!.locked(options, signal),
  backup: ([parts, { onProgress, ...options }], signal) =>
    repository!.backup(fromParts(parts as EntryParts), {
      ...options,
      ...(onProgress !== undefined && { onProgress: slowly(onProgress) }),
    }, signal),
  entries: ([snapshot, options], signal) =>
    toParts(repository!.entries(snapshot, options, signal), { asks: false }),
  snapshots: (_, signal) => repository!.snapshots(signal),
  snapshot: ([id], signal) => repository!.snapshot(id, signal),
  listEntries: ([id, paths], signal) => repository!.listEntries(id, paths, signal),
  listDirectory: ([id, path], signal) => repository!.listDirectory(id, path, signal),
  readFile: ([id, path, options], signal) => repository!.readFile(id, path, options, signal),
  diff: ([before, after], signal) => repository!.diff(before, after, signal),
  removeSnapshots: ([ids, options], signal) => repository!.removeSnapshots(ids, signal, options),
  prune: ([options], signal) => repository!.prune(options, signal),
  check: ([{ onProgress, ...options }], signal) =>
    repository!.check({
      ...options,
      ...(onProgress !== undefined && { onProgress: slowly(onProgress) }),
    }, signal),
  unlock: ([options], signal) => repository!.unlock(options, signal),
  keys: (_, signal) => repository!.keys(signal),
  addKey: ([password], signal) => repository!.addKey(password, signal),
});

/** The storage of the other thread. */
function remoteStorage({ hasChecksum }: OpenMessage): Storage {
  return {
    async *list(kind, signal) {
      const files = await peer.call("storage.list", [kind], signal);
      yield* files as ReturnType<Storage["list"]>;
    },
    read: async (kind, name, signal, range) =>
      await peer.call("storage.read", [kind, name, range], signal) as Uint8Array,
    write: async (kind, name, bytes, signal) => {
      await peer.call("storage.write", [kind, name, bytes], signal);
    },
    remove: async (kind, name, signal) => {
      await peer.call("storage.remove", [kind, name], signal);
    },
    ...(hasChecksum && {
      checksum: async (kind, name, signal) =>
        await peer.call("storage.checksum", [kind, name], signal) as string | undefined,
    }),
  };
}

scope.postMessage("started");
