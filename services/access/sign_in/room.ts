/** Room for sign-ins at identity providers, which anonymous clients can begin. @module */

import {
  type BegunSignIns,
  countBegunSignIns,
  deleteBegunSignIns,
  selectClientsOfSignIns,
} from "../../../db/begun_sign_ins.ts";
import type { Deps } from "../../deps.ts";
import { DROPPED, mostCrowded } from "../crowd.ts";

/** Maximum number of begun sign-ins of each kind. */
const BEGUN_MAX = 10_000;

/** Drops sign-ins of the clients that have begun the most, if there are too many. */
export function makeRoom({ db }: Pick<Deps, "db">, table: BegunSignIns): void {
  if (countBegunSignIns(db, table) < BEGUN_MAX) return;
  const entries = selectClientsOfSignIns(db, table).map(({ id, client }) => [id, client] as const);
  deleteBegunSignIns(db, table, mostCrowded(entries, DROPPED));
}
