/**
 * The context of a request: what the checks of every endpoint get, and what they store for the
 * handler.
 *
 * @module
 */

import type { Context } from "hono";
import type { AccessPolicy, CurrentAccessPolicy } from "../../services/access/policy.ts";
import type { Caller } from "../../services/access/caller.ts";
import type { Shares } from "../../services/access/shares.ts";
import type { DeniedReads } from "../../services/access/audit/denied_reads.ts";
import type { Changes } from "../../services/stream/changes.ts";
import type { Edition } from "../../services/edition.ts";
import type { Note, RecordPhase } from "../contract/endpoint.ts";
import type { AppEnv } from "./exchange.ts";
import type { ScopeCheck } from "./scope.ts";

/** Dependencies of the checks and records of every endpoint. */
export interface EndpointDeps {
  license: { readonly edition: Edition };
  identify: Identify;
  audit: Audit;
  deniedReads: Pick<DeniedReads, "isNew">;
  changes: Pick<Changes, "record">;
  /** Refuses a login that has to set up a second factor first. */
  assertEnrolled: (caller: Caller) => void;
  currentPolicy: CurrentAccessPolicy;
  scopes: ScopeCheck;
  largeBodies: Pick<Shares, "take">;
  /** The id as given and the name of its container, if known; for the logs. */
  containerNames: (id: string) => string[];
}

/**
 * Finds the caller of a request by its token, by its ticket where the endpoint accepts one, or by
 * `METRICS_TOKEN` (`metrics`).
 *
 * @returns `undefined` for a request without any of them.
 * @throws {AppError} `unauthorized` for an invalid, expired or revoked token.
 */
export type Identify = (
  request: Request,
  options: {
    address: string;
    ticket: string | undefined;
    /** Whether it is a ticket for a terminal. */
    terminal?: boolean | undefined;
    metrics?: boolean | undefined;
  },
) => Promise<Caller | undefined>;

/** Records a change, or an attempt to make one. */
export type Audit = (record: {
  caller: Caller;
  action: string;
  target: string;
  targets: readonly string[];
  command: string | null;
  outcome: "success" | "failure" | "denied";
}) => void;

/** The environment of the endpoints' Hono context. */
export type Env = AppEnv & {
  Variables: { caller: Caller; policy: AccessPolicy; note: Note; recordPhase: RecordPhase };
};

/** Answers a request to an endpoint, or throws its failure. */
export type Serve = (c: Context<Env>) => Promise<Response>;

/** Checks a part of a request, and stores it for the handler. @throws {AppError} */
export type PartCheck = (c: Context<Env>) => void | Promise<unknown>;

/** A validated part of the request; `undefined` where the endpoint has none. */
export function validated(c: Context<Env>, part: "param" | "query" | "body"): unknown {
  return (c.req as unknown as { valid(part: string): unknown }).valid(part);
}
