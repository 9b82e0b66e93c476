/** The user name of failed logins in the audit and compliance logs. @module */

import { selectUserByEmail } from "../../../db/users.ts";
import type { Deps } from "../../deps.ts";
import { emailKey } from "../users/emails.ts";

/**
 * The email address of an existing account; empty for any other text, because users sometimes enter
 * their password in the wrong field and it must not be logged.
 */
export function loginName({ db }: Pick<Deps, "db">, given: string): string {
  return selectUserByEmail(db, emailKey(given))?.email ?? "";
}
