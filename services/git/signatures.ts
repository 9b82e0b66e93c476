/** Signatures of commits: made with SSH keys of allowed signers. @module */

import { Buffer } from "node:buffer";
import type { Deps } from "../deps.ts";
import { SignatureError, verifySshSignature } from "../release/ssh_signature.ts";
import type { Bare } from "./fetch/bare.ts";
import type { Signer } from "./signers.ts";

/** Namespace of the signatures of `git commit -S`. */
const NAMESPACE = "git";

const HEADER = "gpgsig";

/**
 * Verifies the signature of a commit.
 *
 * @returns The principal of the key.
 * @throws {SignatureError} For a commit without a valid signature by an allowed signer.
 */
export async function verifyCommit(
  bare: Pick<Bare, "rawCommit">,
  { now }: Pick<Deps, "now">,
  id: string,
  signers: readonly Signer[],
): Promise<string> {
  const { signed, signature } = splitCommit(await bare.rawCommit(id));
  if (signature === undefined) throw new SignatureError("it is not signed");
  if (signature.startsWith("-----BEGIN PGP")) {
    throw new SignatureError("it has an OpenPGP signature; only SSH signatures are verified");
  }
  const committedAt = committerTime(signed);
  let problem: unknown;
  for (const signer of signers) {
    try {
      const trust = { keys: [signer.key], namespace: NAMESPACE };
      await verifySshSignature(signed, signature, trust);
    } catch (error) {
      if (!(error instanceof SignatureError)) throw error;
      problem = error;
      continue;
    }
    // A key that has expired could otherwise sign commits with an earlier date.
    for (const time of [committedAt, now().getTime()]) {
      if (time < signer.validAfter || time >= signer.validBefore) {
        throw new SignatureError(`the key of ${signer.principal} is not valid at this time`);
      }
    }
    return signer.principal;
  }
  throw problem ?? new SignatureError("there are no allowed signers");
}

/** Splits a commit into what was signed, and the signature. Bytes, because a text may be in any encoding. */
function splitCommit(
  commit: Uint8Array<ArrayBuffer>,
): { signed: Uint8Array<ArrayBuffer>; signature: string | undefined } {
  // Latin-1 has a character for each byte.
  const text = Buffer.from(commit).toString("latin1");
  const end = text.indexOf("\n\n");
  const head = end < 0 ? text : text.slice(0, end + 1);
  const found = /^gpgsig (.*\n(?: .*\n)*)/m.exec(head);
  if (!found || head.indexOf(`\n${HEADER} `) < 0) return { signed: commit, signature: undefined };
  const signature = found[1]!.replaceAll("\n ", "\n");
  const signed = head.slice(0, found.index) + head.slice(found.index + found[0].length) +
    text.slice(head.length);
  return { signed: new Uint8Array(Buffer.from(signed, "latin1")), signature };
}

/** Unix milliseconds; `NaN`, which is outside of every period, for an unreadable one. */
function committerTime(commit: Uint8Array): number {
  const head = new TextDecoder("latin1").decode(commit).split("\n\n", 1)[0]!;
  const seconds = /^committer .*> (\d{1,12}) [+-]\d{4}$/m.exec(head)?.[1];
  return seconds === undefined ? NaN : Number(seconds) * 1000;
}
