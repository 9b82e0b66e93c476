/** Variables of a stack that stay here, behind those of the repository's `.env`. @module */

import type { GitStack } from "../../db/git_stacks.ts";
import type { Deps } from "../deps.ts";
import { openOrConflict } from "../secrets/secrets.ts";
import { envText } from "./stack_sources.ts";

const purposeOf = (stack: string) => `git stack ${stack} variables`;

/** @param env Text of `.env`. */
export const sealEnv = (
  { secrets }: Pick<Deps, "secrets">,
  stack: string,
  env: string | null,
): string | null => env === null || env === "" ? null : secrets.seal(env, purposeOf(stack));

/** @throws {AppError} `conflict` if they cannot be decrypted. */
export const openEnv = (
  { secrets }: Pick<Deps, "secrets">,
  { stack, sealedEnv }: Pick<GitStack, "stack" | "sealedEnv">,
): string | null =>
  sealedEnv === null
    ? null
    : openOrConflict(() => secrets.open(sealedEnv, purposeOf(stack)), "enter the variables again");

/** Variables of the mapping, and behind them those of the stack, as text of `.env`. */
export const joinVariables = (
  mappedEnv: Record<string, string>,
  env: string | null,
): string | null => envText(mappedEnv) + (env ?? "") || null;
