/**
 * Argon2id (RFC 9106) as WebAssembly in a worker, which gives all memory back when it is closed.
 *
 * WebCrypto's own Argon2id allocates from the C library, which keeps the blocks of every thread:
 * hundreds of megabytes after some hundred logins.
 *
 * @module
 */

import library from "hash-wasm/dist/argon2.umd.min.js" with { type: "text" };
import handler from "./argon2_worker.js" with { type: "text" };

/** The cost of one hash. It is stored with the hash, so that a later version can raise it. */
export interface Cost {
  memoryKib: number;
  passes: number;
  lanes: number;
}

/** Computes hashes, one at a time. */
export interface Argon2 {
  /**
   * @param password At least one byte.
   * @param salt At least eight bytes.
   * @throws {Error} When the worker fails, e.g. without memory.
   */
  hash(
    password: Uint8Array,
    salt: Uint8Array,
    cost: Cost,
    lengthBytes: number,
  ): Promise<Uint8Array>;
  /** Ends the worker and frees its memory. */
  close(): void;
}

type Answer = { hash: Uint8Array } | { error: string };

/** Starts no worker before the first hash. */
export function createArgon2(): Argon2 {
  let worker: Worker | undefined;

  return {
    async hash(password, salt, { memoryKib, passes, lanes }, lengthBytes) {
      worker ??= startWorker();
      const answer = answerOf(worker);
      worker.postMessage({
        password,
        salt,
        memorySize: memoryKib,
        iterations: passes,
        parallelism: lanes,
        hashLength: lengthBytes,
        outputType: "binary",
      });
      const result = await answer;
      if ("error" in result) throw new Error(`Argon2id failed: ${result.error}`);
      return result.hash;
    },
    close() {
      worker?.terminate();
      worker = undefined;
    },
  };
}

/** As `data:`, because a compiled program has no file of the worker. */
function startWorker(): Worker {
  const script = encodeURIComponent(`${library}\n${handler}`);
  return new Worker(`data:text/javascript,${script}`, { type: "module" });
}

function answerOf(worker: Worker): Promise<Answer> {
  return new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => {
      // An unhandled error of a worker would end the whole process.
      event.preventDefault();
      resolve({ error: event.message });
    };
  });
}
