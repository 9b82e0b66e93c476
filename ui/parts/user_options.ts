/** The users of this server, for fields that choose one. @module */

import { useRead } from "../components/reading.ts";
import { AUTH_MODE, hasRoleAtServer } from "../state/session.ts";
import { KEY_MODE, type UserOption } from "./user_name.ts";

/**
 * Reads the users; none until they are known, and for others than admins.
 *
 * @param isNeeded Whether they are read at all.
 */
export function useUserOptions(isNeeded = true): readonly UserOption[] {
  const { data } = useRead(
    "GET /auth/users",
    isNeeded && AUTH_MODE === "users" && hasRoleAtServer("admin", "users:read") ? {} : undefined,
  );
  if (AUTH_MODE === "key") return KEY_MODE;
  return data.value?.users.map(({ id, email }) => ({ value: id, name: email })) ?? [];
}
