/** Storage of a repository in memory, whose calls can be counted and made to fail. @module */

import { type FileKind, type Storage, StorageError } from "../../services/backup/restic/storage.ts";

/** A call to the storage. */
export interface StorageCall {
  method: "list" | "read" | "write" | "remove";
  kind: FileKind;
  name: string;
}

/**
 * Failures of a call. `fails`: nothing is done. `answerLost`: it is done, but fails. `lost`, `cut` and
 * `altered` concern writes, which succeed.
 */
export type Fault = "fails" | "answerLost" | "lost" | "cut" | "altered";

export type MemoryStorage = ReturnType<typeof createMemoryStorage>;

/** @param copied Files of another storage. */
export function createMemoryStorage(copied: ReadonlyMap<string, Uint8Array> = new Map()) {
  const files = new Map(copied);
  let faultOf: (call: StorageCall) => Fault | undefined = () => undefined;
  const keyOf = (kind: FileKind, name: string) => `${kind}/${name}`;

  const perform = <T>(call: StorageCall, signal: AbortSignal, run: (fault?: Fault) => T): T => {
    signal.throwIfAborted();
    const fault = faultOf(call);
    if (fault === "fails") throw new StorageError("unreachable", "The target does not answer");
    const result = run(fault);
    if (fault === "answerLost") throw new StorageError("unreachable", "The answer was lost");
    return result;
  };

  const storage: Storage = {
    async *list(kind, signal) {
      const found = perform(
        { method: "list", kind, name: "" },
        signal,
        () => [...files].filter(([key]) => key.startsWith(`${kind}/`)),
      );
      for (const [key, { length }] of found) yield { name: key.split("/")[1]!, size: length };
    },
    read: async (kind, name, signal, range) =>
      await perform({ method: "read", kind, name }, signal, () => {
        const bytes = files.get(keyOf(kind, name));
        if (bytes === undefined) throw new StorageError("not_found", `No ${kind} ${name}`);
        const { offset, length } = range ?? { offset: 0, length: bytes.length };
        if (offset + length > bytes.length) throw new StorageError("damaged", "Too short");
        return bytes.slice(offset, offset + length);
      }),
    write: async (kind, name, bytes, signal) =>
      await perform({ method: "write", kind, name }, signal, (fault) => {
        if (fault === "lost") return;
        if (files.has(keyOf(kind, name))) throw new StorageError("exists", `${kind} ${name}`);
        const stored = bytes.slice(0, fault === "cut" ? bytes.length / 2 : bytes.length);
        if (fault === "altered") stored[stored.length >> 1]! ^= 1;
        files.set(keyOf(kind, name), stored);
      }),
    remove: async (kind, name, signal) =>
      await perform({ method: "remove", kind, name }, signal, () => {
        files.delete(keyOf(kind, name));
      }),
  };
  return {
    ...storage,
    files,
    /** Keys of the files of a kind, e.g. `data/1a2b...`. */
    keys: (kind: FileKind): string[] => [...files.keys()].filter((key) => key.startsWith(kind)),
    /** Replaces all files. */
    reset(other: ReadonlyMap<string, Uint8Array>): void {
      files.clear();
      for (const [key, bytes] of other) files.set(key, bytes);
    },
    /** Decides about each call from now on. */
    onCall(decide: (call: StorageCall) => Fault | undefined): void {
      faultOf = decide;
    },
  };
}
