/** Input and result of the job that takes stacks over. @module */

import type { ChosenSource } from "./candidates.ts";

/** A stack, with the source that a user has chosen. */
export interface ChosenStack {
  name: string;
  chosen: ChosenSource | null;
  /** Id of a container without a stack, which becomes one. */
  container?: string;
}

export interface TakeoverInput {
  /** Author of the stored versions. */
  userId: string;
  stacks: ChosenStack[];
  acceptRecreate: boolean;
}

export interface TakeoverResult {
  /** Names of the stacks that are managed here now. */
  taken: string[];
  refused: { name: string; reason: string }[];
}
