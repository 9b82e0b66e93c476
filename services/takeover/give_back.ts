/** Gives stacks back to the program that deployed them. @module */

import { selectUnfinishedJobOf } from "../../db/jobs.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { findCurrent, openVersion, removeVersions } from "../compose/versions.ts";

/**
 * Removes what is stored here about a stack. Its containers and files stay as they are, also the files
 * that were edited here.
 *
 * @throws {AppError} `not_found` for a stack without sources; `conflict` for one that was created here,
 * and while a job works on it.
 */
export function giveBack(
  deps: Pick<Deps, "db" | "secrets" | "log" | "takeover">,
  name: string,
): void {
  const { db, log, takeover } = deps;
  const { origin } = openVersion(deps, findCurrent(deps, name)).sources;
  if (!origin) {
    throw new AppError("conflict", `Stack ${name} was not taken over; delete it instead`);
  }
  const job = selectUnfinishedJobOf(db, { targetType: "stack", target: name });
  if (job) throw new AppError("conflict", `Job ${job.id} (${job.kind}) has not finished yet`);
  removeVersions(deps, name);
  takeover.clear();
  log.info("stack given back", { stack: name });
}
