/** Checks that several kinds of schedules share. @module */

import { selectBackupTarget } from "../../../../db/backup_targets.ts";
import { EngineUnreachableError } from "../../../../engine/errors.ts";
import type { Deps } from "../../../deps.ts";
import { AppError, InputError } from "../../../errors.ts";
import { findStack } from "../../../stacks/stacks.ts";
import type { CheckDeps, CheckOptions, Field, Plan } from "./kind.ts";

/** Accepts an unreachable engine, because each run looks again. @throws {AppError} `invalid`. */
export async function assertThere(
  field: Field,
  what: string,
  find: () => Promise<unknown>,
): Promise<void> {
  try {
    await find();
  } catch (error) {
    if (error instanceof EngineUnreachableError) return;
    if (!(error instanceof AppError) || error.code !== "not_found") throw error;
    throw fieldError(field, `${what} does not exist; use allowMissing to accept it`);
  }
}

/** @throws {AppError} `invalid` for a stack that does not exist, or one of a swarm. */
export async function assertStack(
  deps: CheckDeps,
  { stack }: Plan,
  { allowMissing, before, isOfHost }: CheckOptions & { isOfHost: boolean },
): Promise<void> {
  if (stack === null || stack === before?.stack || allowMissing) return;
  await assertThere("stack", `Stack ${stack}`, async () => {
    const { kind } = await findStack(deps, stack);
    if (isOfHost && kind === "swarm") {
      throw fieldError("stack", `Stack ${stack} is managed by Swarm; choose one of this host`);
    }
  });
}

/** Name of a target for people; the id of one that was deleted. */
export const targetName = ({ db }: Pick<Deps, "db">, id: string): string =>
  selectBackupTarget(db, id)?.name ?? id;

export const fieldError = (field: string, message: string) =>
  new InputError([{ path: `body.${field}`, message }]);
