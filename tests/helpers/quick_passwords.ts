/**
 * Passwords for tests that are not about hashing: Argon2id with the lowest cost, in the thread of the
 * test. A hash takes 2 ms of the processor instead of 170.
 *
 * @module
 */

import { argon2id } from "hash-wasm";
import { createPasswords, type Passwords } from "../../services/access/passwords/passwords.ts";

export const quickPasswords = (): Passwords =>
  createPasswords({ memoryKib: 8, passes: 1, lanes: 1 }, () => ({
    hash: (password, salt, { memoryKib, passes, lanes }, lengthBytes) =>
      argon2id({
        password,
        salt,
        memorySize: memoryKib,
        iterations: passes,
        parallelism: lanes,
        hashLength: lengthBytes,
        outputType: "binary",
      }),
    close() {},
  }));
