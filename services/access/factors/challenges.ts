/** Challenges that passkeys sign: each is valid for one response to one purpose. @module */

/** Time for the response of an authenticator, in milliseconds. */
export const CHALLENGE_MS = 5 * 60_000;

/** Purpose of a challenge, and who may answer it. */
export type PasskeyChallenge =
  | { purpose: "register"; userId: string; familyId: string }
  | { purpose: "sign-in"; pageHash: string }
  | { purpose: "second step"; mfaToken: string };

/** A response of an authenticator, with the challenge that it claims to answer. */
interface ClientResponse {
  response: { clientDataJSON: string };
}

/**
 * Uses up the challenge of a response.
 *
 * @returns The challenge; `undefined` if it is unknown, used or expired, or was issued for something
 * else.
 */
export function takeChallenge(
  issuedChallenges: { redeem(challenge: string): PasskeyChallenge | undefined },
  { response: { clientDataJSON } }: ClientResponse,
  expected: PasskeyChallenge,
): string | undefined {
  const challenge = challengeOf(clientDataJSON);
  const issued = challenge === undefined ? undefined : issuedChallenges.redeem(challenge);
  return JSON.stringify(issued) === JSON.stringify(expected) ? challenge : undefined;
}

function challengeOf(clientDataJSON: string): string | undefined {
  try {
    const bytes = Uint8Array.fromBase64(clientDataJSON, { alphabet: "base64url" });
    const { challenge } = JSON.parse(new TextDecoder().decode(bytes));
    return typeof challenge === "string" ? challenge : undefined;
  } catch {
    return undefined;
  }
}
