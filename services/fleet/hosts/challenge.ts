/**
 * Tells a machine from its copy: the hub gives a numbered proof at each connection, and only the
 * machine that connected last has the newest. Machine ids would not do, because they are copied with
 * templates.
 *
 * The proof is computed from the number, so that a hub that was restored from a backup still knows
 * those that it gave afterwards. A number counts when the member has confirmed that it is stored: until
 * then, a lost answer would lock out the member.
 *
 * @module
 */

import type { Deps } from "../../deps.ts";

export interface Challenge {
  counter: number;
  proof: string;
}

/** The challenge of a number for a host. */
export async function challengeOf(
  { secrets }: Pick<Deps, "secrets">,
  hostId: string,
  counter: number,
): Promise<Challenge> {
  return { counter, proof: await secrets.fingerprint(`fleet challenge ${hostId} ${counter}`) };
}

/**
 * Whether a member is the machine that connected last, or newer than this hub's data.
 *
 * @param confirmed Number of the last challenge that the host has confirmed; 0 for none.
 */
export async function isGenuine(
  deps: Pick<Deps, "secrets">,
  { id, confirmed }: { id: string; confirmed: number },
  given: Challenge | null,
): Promise<boolean> {
  if (given === null) return confirmed === 0;
  const { proof } = await challengeOf(deps, id, given.counter);
  return proof === given.proof && given.counter >= confirmed;
}
