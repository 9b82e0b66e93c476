/** The users of this server, for fields that choose one. @module */

import { AUTH_MODE, hasRole } from "../state/session.ts";
import { useRead } from "../components/reading.ts";

export interface UserOption {
  /** The user's id. */
  value: string;
  /** The email address. */
  name: string;
}

/** In key mode the key is the only user. */
const KEY_MODE: readonly UserOption[] = [{ value: "key", name: "API key" }];

/**
 * Reads the users; none until they are known, and for others than admins.
 *
 * @param isNeeded Whether they are read at all.
 */
export function useUserOptions(isNeeded = true): readonly UserOption[] {
  const { data } = useRead(
    "GET /auth/users",
    isNeeded && AUTH_MODE === "users" && hasRole("admin", "users:read") ? {} : undefined,
  );
  if (AUTH_MODE === "key") return KEY_MODE;
  return data.value?.users.map(({ id, email }) => ({ value: id, name: email })) ?? [];
}

/** The email address of a user, or the id of one who is not in the list. */
export const userName = (options: readonly UserOption[], id: string): string =>
  [...options, ...KEY_MODE].find(({ value }) => value === id)?.name ?? id;
