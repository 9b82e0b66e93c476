/**
 * What is known of a request on its way to its endpoint, and who has a say on the way.
 *
 * @module
 */

import type { Context } from "hono";
import type { Caller } from "../services/auth/caller.ts";
import type { Edition } from "../services/license/edition.ts";
import type { AccessPolicy, CurrentAccessPolicy } from "../services/access_policy.ts";
import type { Note } from "./endpoint.ts";
import type { AppEnv } from "./exchange.ts";

/**
 * Finds the caller of a request by its token, by its ticket where the endpoint takes one, or by
 * the scraper's own token (`metrics`).
 *
 * @returns `undefined` for a request that brings neither.
 * @throws {AppError} `unauthorized` for a token that is not valid (any more).
 */
export type Identify = (
  request: Request,
  options: { address: string; ticket: string | undefined; metrics?: boolean | undefined },
) => Caller | undefined | Promise<Caller | undefined>;

/** Records a change, or an attempt to make one. */
export type Audit = (record: {
  caller: Caller;
  action: string;
  target: string;
  targets: readonly string[];
  command: string | null;
  outcome: "success" | "failure" | "denied";
}) => void;

/** Who has a say on the way of every request. */
export interface RequestContext {
  license: { readonly edition: Edition };
  identify: Identify;
  audit: Audit;
  guard: CurrentAccessPolicy;
}

type Variables = { caller: Caller; guard: AccessPolicy; note: Note };
export type Env = AppEnv & { Variables: Variables };

/** What a validator made of a part of the request; nothing where there was none to. */
export function validated(c: Context<Env>, part: "param" | "query" | "body"): unknown {
  return (c.req as unknown as { valid(part: string): unknown }).valid(part);
}
