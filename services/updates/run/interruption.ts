/** Distinguishes the failure of an update from the loss of the engine or of the service. @module */

import { connectEngine, type Engine } from "../../../engine/client.ts";
import { EngineUnreachableError, type UnreachableReason } from "../../../engine/errors.ts";
import { systemPing } from "../../../engine/system.ts";
import type { Deps } from "../../deps.ts";
import { AppError, isNotStored } from "../../errors.ts";

/**
 * Reasons that can be those of one container, e.g. of one that hangs when it starts, while the engine
 * answers other calls. A connection that breaks is among them only if that is repeated: an engine that
 * restarts may answer again at once.
 */
const OWN_REASONS: ReadonlySet<UnreachableReason> = new Set(["protocol", "timeout"]);

/** Calls that broke within this time, in milliseconds, while the engine stayed. */
const BROKEN_MAX = 3;
const BROKEN_MS = 3_600_000;

/** Times of calls that broke, in Unix milliseconds, since the last break of the engine's events. */
const brokenCalls = new WeakMap<Engine, { breaks: number; times: number[] }>();

export type InterruptDeps = Pick<Deps, "engine" | "eventStream" | "jobs" | "now">;

/**
 * Called with an error that is about to count as a failure.
 *
 * @returns The failure, which ends a job that throws it.
 * @throws What continues the job later: the service stops, the engine is away or stopping, or nothing
 * can be stored.
 */
export async function throwIfInterrupted(deps: InterruptDeps, error: unknown): Promise<unknown> {
  if (deps.jobs.stopping.aborted || isNotStored(error)) throw error;
  if (!(error instanceof EngineUnreachableError)) {
    await assertEngineStays(deps.engine);
    return error;
  }
  const isBroken = error.reason === "broken";
  if (!isBroken && !OWN_REASONS.has(error.reason)) throw error;
  await assertEngineStays(deps.engine);
  if (isBroken && !isRepeated(deps)) throw error;
  return new AppError("unavailable", error.message, { cause: error });
}

/** Whether calls break again and again although the engine stays, and its events with it. */
function isRepeated({ engine, eventStream, now }: InterruptDeps): boolean {
  const at = now().getTime();
  const { breaks } = eventStream.status();
  const known = brokenCalls.get(engine);
  const times = known?.breaks === breaks ? known.times.filter((time) => at - time < BROKEN_MS) : [];
  times.push(at);
  brokenCalls.set(engine, { breaks, times: times.slice(-BROKEN_MAX) });
  return times.length >= BROKEN_MAX;
}

/**
 * An engine that stops closes its socket first, then stops the containers, and meanwhile answers on
 * open connections.
 *
 * @throws {EngineUnreachableError} If it accepts no new connection.
 */
async function assertEngineStays({ endpoint }: Pick<Engine, "endpoint">): Promise<void> {
  using engine = connectEngine(endpoint);
  await systemPing(engine);
}

/**
 * @returns Throws {@linkcode EngineUnreachableError} if the engine has restarted since, or is stopping:
 * then that may be why containers ended.
 */
export function watchEngine(
  { engine, eventStream }: Pick<Deps, "engine" | "eventStream">,
): () => Promise<void> {
  const { breaks } = eventStream.status();
  return async () => {
    await assertEngineStays(engine);
    if (eventStream.status().breaks !== breaks) {
      throw new EngineUnreachableError("The engine restarted during the verification");
    }
  };
}
