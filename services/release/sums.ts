/** Checksums of a release's files: `SHA256SUMS`, signed by the vendor. @module */

import { compareNatural } from "../text/natural_order.ts";
import { SignatureError, verifySshSignature } from "./ssh_signature.ts";

/** Namespace of the signature; `deploy/release/release.ts` signs with it. */
const NAMESPACE = "file";

const LINE = /^([0-9a-f]{64}) {2}(\S+)$/;

const VERSION = /^(\d+)\.(\d+)\.(\d+)(?:-([\w.]+))?$/;

/** From the SHA-256 of each file, in hexadecimal, to its name. */
export type Sums = ReadonlyMap<string, string>;

/**
 * Verifies the signature of `SHA256SUMS` and returns its content.
 *
 * @param keys The trusted public keys, each as in a `.pub` file.
 * @throws {SignatureError} If the signature is not valid, or the content is not as expected.
 */
export async function readSignedSums(
  sums: string,
  signature: string,
  keys: readonly string[],
): Promise<Sums> {
  await verifySshSignature(new TextEncoder().encode(sums), signature, {
    keys,
    namespace: NAMESPACE,
  });
  return new Map(
    sums.trimEnd().split("\n").map((line) => {
      const [, hash, name] = LINE.exec(line) ?? [];
      if (!hash || !name) {
        throw new SignatureError("it has a line that is not a checksum and a name");
      }
      return [hash, name];
    }),
  );
}

/**
 * Returns the version of an executable, which its name in a release contains:
 * `longshore-1.2.3-x86_64-unknown-linux-gnu`.
 *
 * @returns `undefined` if it is not an executable for `target`.
 */
export function versionOf(name: string, target: string): string | undefined {
  const [prefix, suffix] = ["longshore-", `-${target}`];
  if (!name.startsWith(prefix) || !name.endsWith(suffix)) return undefined;
  const version = name.slice(prefix.length, -suffix.length);
  return VERSION.test(version) ? version : undefined;
}

/** Whether version `a` is newer than `b`; both as `1.2.3` or `1.2.3-rc.1`. */
export function isNewer(a: string, b: string): boolean {
  const [, ...left] = VERSION.exec(a) ?? [];
  const [, ...right] = VERSION.exec(b) ?? [];
  for (const part of [0, 1, 2]) {
    const difference = Number(left[part]) - Number(right[part]);
    if (difference !== 0) return difference > 0;
  }
  const [leftPre, rightPre] = [left[3], right[3]];
  // A version comes after its pre-releases.
  if (!leftPre || !rightPre) return !leftPre && rightPre !== undefined;
  return compareNatural(leftPre, rightPre) > 0;
}
