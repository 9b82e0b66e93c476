/**
 * Containers that the engine does not describe, or not in full: one of them must not hide the others,
 * and has to remain removable.
 *
 * @module
 */

import {
  EngineError,
  EngineUnreachableError,
  ifThere,
  type UnreachableReason,
} from "../../engine/errors.ts";
import type { Shortened } from "../../engine/shortened_json.ts";
import { systemPing } from "../../engine/system.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import type { Container } from "./inventory.ts";

/** Warning of an object with labels or other texts that were cut, or left out. */
export const TOO_LARGE = "Its labels or other texts are too large to be read in full";

/** The warning of an object in lists; `null` if it was read in full. */
export const warningOf = ({ Truncated }: Shortened): string | null => Truncated ? TOO_LARGE : null;

/** The warning of a container without a description. The engine's own text may have secret values. */
export const describeUnreadable = (error: unknown): string =>
  error instanceof EngineUnreachableError
    ? `It cannot be described: ${error.message}`
    : "The engine fails to describe it";

/** The reason why the containers cannot be listed. */
export const describeUnlisted = (error: unknown): string =>
  error instanceof EngineUnreachableError
    ? `The containers cannot be listed: ${error.message}`
    : "The engine fails to list its containers";

/**
 * Refuses to work from a description with parts missing, e.g. to create a container from it.
 *
 * @param what E.g. "Container web".
 * @throws {AppError} `conflict`
 */
export function assertComplete({ Truncated }: Shortened, what: string): void {
  if (Truncated) throw new AppError("conflict", incomplete(what));
}

export const incomplete = (what: string): string =>
  `${what} has labels or other texts that are too large to be read in full; create it again with ` +
  "smaller ones";

/** Reasons that can be those of one object, while the engine answers other requests. */
const OWN_REASONS: ReadonlySet<UnreachableReason> = new Set(["protocol", "timeout", "broken"]);

/** Whether a read failed because of its object: the engine itself answers. */
export async function isUnreadable(
  engine: Deps["engine"],
  error: unknown,
  signal?: AbortSignal,
): Promise<boolean> {
  if (error instanceof EngineError) return error.status >= 500;
  if (!(error instanceof EngineUnreachableError) || !OWN_REASONS.has(error.reason)) return false;
  return await responds(engine, signal);
}

/** Whether the engine answers a request that is about no object. */
export const responds = (engine: Deps["engine"], signal?: AbortSignal): Promise<boolean> =>
  systemPing(engine, { signal }).then(() => true, () => false);

/** The result of a read, or `undefined` if its object does not exist or cannot be read. */
export async function ifReadable<Result>(
  engine: Deps["engine"],
  read: Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await ifThere(read);
  } catch (error) {
    if (await isUnreadable(engine, error)) return undefined;
    throw error;
  }
}

/** Logs each container that got a warning. */
export function logWarnings(
  log: Deps["log"],
  before: readonly (Container | undefined)[],
  now: readonly Container[],
): void {
  const known = new Map(before.map((container) => [container?.id, container?.warning]));
  for (const { id, name, warning } of now) {
    if (warning === null || known.get(id) === warning) continue;
    log.warn("container not read in full", { id, container: name, warning });
  }
}
