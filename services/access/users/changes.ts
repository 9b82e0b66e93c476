/** Reports of changes to the ways into an account. @module */

import { selectUser } from "../../../db/users.ts";
import { emit, type EmitDeps } from "../../events/emit.ts";
import type { Caller } from "../caller.ts";

/**
 * Emits an event: the owner should hear of a change by someone else, e.g. with a stolen token.
 *
 * @param change E.g. `Passkey added`.
 */
export function reportAccountChange(
  deps: EmitDeps,
  { userId, address }: Pick<Caller, "userId" | "address">,
  kind: "account.factor_changed" | "account.access_changed",
  change: string,
): void {
  const account = selectUser(deps.db, userId)?.email ?? userId;
  emit(deps, kind, { account, userId, change, address });
}
