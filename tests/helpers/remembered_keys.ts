/**
 * Derives each key of a repository once: a derivation takes 100 ms of the processor, and a test opens its
 * repository many times. To be imported for this effect.
 *
 * @module
 */

import { nodeCrypto } from "../../services/builtins.ts";

type Scrypt = (
  ...args: [
    password: string,
    salt: Uint8Array,
    length: number,
    options: { N: number; r: number; p: number },
    done: (error: Error | null, key: Uint8Array) => void,
  ]
) => void;

/** Lets every derivation in this thread end at once if one with the same input has ended before. */
function rememberDerivations(): void {
  const scrypt = nodeCrypto().scrypt as unknown as Scrypt;
  const known = new Map<string, Uint8Array>();
  const remembering: Scrypt = (password, salt, length, options, done) => {
    const { N, r, p } = options;
    const input = JSON.stringify([password, salt.toHex(), length, N, r, p]);
    const key = known.get(input);
    if (key !== undefined) return done(null, key);
    scrypt(password, salt, length, options, (error, key) => {
      if (error === null) known.set(input, key);
      done(error, key);
    });
  };
  Object.assign(nodeCrypto(), { scrypt: remembering });
}

rememberDerivations();
