/** Names of the users that have done something. @module */

import { HOST } from "../state/root.ts";

export interface UserOption {
  /** The user's id. */
  value: string;
  /** The email address. */
  name: string;
}

/** In key mode the key is the only user. */
export const KEY_MODE: readonly UserOption[] = [{ value: "key", name: "API key" }];

/** Id at a member of a user of its hub: the hub's own id of the user comes last. */
const OF_HUB = /^hub\/[^/]+\/(.+)$/;
const USER_OF_HUB = "User of the hub";

/**
 * The email address of a user, or the id of one who is not in the list. A member knows no users of its
 * hub by name, but the hub does, whose pages show the member, too.
 */
export function userName(options: readonly UserOption[], id: string, host = HOST): string {
  const ofHub = OF_HUB.exec(id)?.[1];
  if (ofHub !== undefined && host === undefined) return USER_OF_HUB;
  const name = [...options, ...KEY_MODE].find(({ value }) => value === (ofHub ?? id))?.name;
  return name ?? (ofHub === undefined ? id : USER_OF_HUB);
}
