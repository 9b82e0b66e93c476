/**
 * Errors that a caller of the API can act on. Any other error is a bug: it is logged in full, and the
 * caller gets only "Internal error".
 *
 * @module
 */

import { EngineError, EngineUnreachableError } from "../engine/errors.ts";
import { errorFields, type Log, type LogFields } from "./log.ts";

/** Stable reason of a failure; `routes/pipeline/errors.ts` gives each its HTTP status. */
export type ErrorCode =
  | "invalid"
  | "unauthorized"
  | "limit_reached"
  | "forbidden"
  | "not_found"
  | "method_not_allowed"
  | "conflict"
  | "precondition_failed"
  | "too_large"
  | "unsupported_media_type"
  | "precondition_required"
  | "too_many_requests"
  | "bad_gateway"
  | "unavailable";

/** A failure with a message meant for the caller. */
export class AppError extends Error {
  override readonly name: string = "AppError";

  constructor(readonly code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
  }
}

/** One problem of a request. */
export interface InputIssue {
  /** Path of the value, e.g. `"body.config.url"`. */
  path: string;
  /** E.g. `"is required"`. */
  message: string;
}

/** Maximum number of issues in one response. */
export const ISSUES_MAX = 50;

/** Input that does not match its shape. The message is about the first issue. */
export class InputError extends AppError {
  override readonly name = "InputError";
  /** At most {@linkcode ISSUES_MAX}. */
  readonly issues: readonly InputIssue[];

  /** @param issues At least one. */
  constructor(issues: readonly InputIssue[]) {
    super("invalid", `${issues[0]?.path}: ${issues[0]?.message}`);
    this.issues = issues.slice(0, ISSUES_MAX);
  }
}

/** The edition's limit is reached, or the edition lacks the feature: 402 with the numbers. */
export class LimitError extends AppError {
  override readonly name = "LimitError";

  constructor(message: string, readonly current: number, readonly max: number) {
    super("limit_reached", message);
  }
}

/** `MFA_REQUIRED`: the caller has to set up a second factor first. */
export class EnrolmentError extends AppError {
  override readonly name = "EnrolmentError";

  constructor() {
    super("forbidden", "Set up a second factor first: an authenticator app or a passkey");
  }
}

/** The caller is rate-limited. */
export class ThrottledError extends AppError {
  override readonly name = "ThrottledError";

  /** @param retryAfterS Whole seconds until a retry makes sense; at least 1. */
  constructor(message: string, readonly retryAfterS: number) {
    super("too_many_requests", message);
  }
}

/** The record was changed after the caller read it. */
export class ChangedMeanwhileError extends AppError {
  override readonly name = "ChangedMeanwhileError";

  /** @param diff Unified diff from what the caller read to what is there. */
  constructor(message: string, readonly diff: string) {
    super("conflict", message);
  }
}

/** The sources would recreate containers, which the caller has not accepted. */
export class PlanRefusedError<Change extends object = object> extends AppError {
  override readonly name = "PlanRefusedError";

  /** @param changes Those of the plan. */
  constructor(message: string, readonly changes: readonly Change[]) {
    super("conflict", message);
  }
}

/** A key file cannot be used; the message says what to do. */
export class KeyFileError extends Error {
  override readonly name = "KeyFileError";
}

/** E.g. `notFound("Schedule", id)`. */
export const notFound = (what: string, id: string) =>
  new AppError("not_found", `${what} ${id} does not exist`);

/** @throws {AppError} `not_found` for `undefined`. */
export function requireFound<Found>(found: Found | undefined, what: string, id: string): Found {
  if (found === undefined) throw notFound(what, id);
  return found;
}

/** A limit of all editions. E.g. `tooMany("brands", 100)`. */
export const tooMany = (what: string, max: number) =>
  new AppError("conflict", `Limit of ${max} ${what} reached; delete one first`);

/**
 * Converts errors of the layers below to an {@linkcode AppError}; `undefined` if the caller cannot
 * act on them.
 */
export function asAppError(error: unknown): AppError | undefined {
  if (error instanceof AppError) return error;
  if (error instanceof EngineUnreachableError) {
    return new AppError("unavailable", error.message, { cause: error });
  }
  if (error instanceof EngineError) return fromEngine(error);
  return error instanceof Error ? fromDatabase(error) : undefined;
}

/** The message for a caller. An unexpected error is logged: its text may contain internals. */
export function messageFor(log: Log, error: unknown, what: string, fields?: LogFields): string {
  const known = asAppError(error);
  if (!known) log.error(what, { ...fields, ...errorFields(error) });
  return known?.message ?? "Internal error";
}

/** node:sqlite reports the extended result code, whose low byte is the primary one. */
function fromDatabase(error: Error): AppError | undefined {
  const { errcode = 0 } = error as { errcode?: number };
  // SQLITE_CONSTRAINT_UNIQUE
  if (errcode === 2067) return new AppError("conflict", "Already exists", { cause: error });
  const reason = NOT_STORED[errcode & 0xff];
  if (reason === undefined) return undefined;
  return new AppError("unavailable", `Cannot store anything: ${reason}`, { cause: error });
}

/** Why SQLite cannot write, by its primary result code. */
const NOT_STORED: Record<number, string> = {
  5: "another process has the database locked; try again", // SQLITE_BUSY
  8: "the database is read-only", // SQLITE_READONLY
  13: "the disk is full", // SQLITE_FULL
};

/** Whether the state database could not be written, e.g. because its disk is full: that may pass. */
export function isNotStored(error: unknown): boolean {
  const { errcode = 0, cause } = (error ?? {}) as { errcode?: number; cause?: unknown };
  if (error instanceof AppError) return cause !== undefined && isNotStored(cause);
  return error instanceof Error && (errcode & 0xff) in NOT_STORED;
}

/** The engine's message is kept, because it names the container, volume or port. */
function fromEngine(error: EngineError): AppError | undefined {
  switch (error.status) {
    case 400:
      return new AppError("invalid", error.message, { cause: error });
    case 404:
      return new AppError("not_found", error.message, { cause: error });
    case 403: // e.g. removing a predefined network
    case 409:
      return new AppError("conflict", error.message, { cause: error });
    case 503: // e.g. a swarm operation on a node that is not a manager
      return new AppError("conflict", error.message, { cause: error });
    default:
      // The engine answers 500 to much that the caller can act on (a port in use, a missing mount
      // source), so the caller gets its message.
      return new AppError("bad_gateway", error.message, { cause: error });
  }
}
