/**
 * What the logs of what was done may say of who tried to log in.
 *
 * @module
 */

import { selectUserByEmail } from "../../../db/ce/users.ts";
import type { Deps } from "../../deps.ts";
import { emailKey } from "./emails.ts";

/**
 * The address of an account, and nothing for any other text: who types a password where the
 * address belongs must not find it in a log.
 */
export function loginName({ db }: Pick<Deps, "db">, given: string): string {
  return selectUserByEmail(db, emailKey(given))?.email ?? "";
}
