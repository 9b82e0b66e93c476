/**
 * Argon2id (RFC 9106) as WebAssembly in a worker, which releases all memory when it is closed.
 *
 * WebCrypto's own Argon2id allocates through the C library, which keeps the memory of every thread:
 * hundreds of megabytes after some hundred logins.
 *
 * @module
 */

import library from "hash-wasm/dist/argon2.umd.min.js" with { type: "text" };
import handler from "./argon2_worker.js" with { type: "text" };

/** The cost parameters of a hash. They are stored with it, so that a later version can raise them. */
export interface Cost {
  memoryKib: number;
  passes: number;
  lanes: number;
}

type Answer = { hash: Uint8Array } | { error: string };

export type Argon2 = ReturnType<typeof createArgon2>;

/** Creates a hasher, which computes one hash at a time. Its worker starts with the first one. */
export function createArgon2() {
  let worker: Worker | undefined;
  /** Ends the worker and frees its memory. */
  const close = (): void => {
    worker?.terminate();
    worker = undefined;
  };

  return {
    /**
     * @param password At least one byte.
     * @param salt At least eight bytes.
     * @throws {Error} When the worker fails, e.g. because memory is exhausted.
     */
    async hash(
      password: Uint8Array,
      salt: Uint8Array,
      { memoryKib, passes, lanes }: Cost,
      lengthBytes: number,
    ): Promise<Uint8Array> {
      worker ??= startWorker();
      const answer = nextAnswer(worker);
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
      if ("hash" in result) return result.hash;
      // A worker that died would never answer the next call.
      close();
      throw new Error(`Argon2id failed: ${result.error}`);
    },
    close,
  };
}

/** The script is a `data:` URL, because a compiled program cannot load it from a file. */
function startWorker(): Worker {
  const script = encodeURIComponent(`${library}\n${handler}`);
  return new Worker(`data:text/javascript,${script}`, { type: "module" });
}

function nextAnswer(worker: Worker): Promise<Answer> {
  return new Promise((resolve) => {
    worker.onmessage = ({ data }) => resolve(data);
    worker.onerror = (event) => {
      // An unhandled error in a worker would end the whole process.
      event.preventDefault();
      resolve({ error: event.message });
    };
  });
}
