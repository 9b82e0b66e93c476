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

export type InterruptDeps = Pick<Deps, "brokenCalls" | "engine" | "jobs">;

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
  if (isBroken && !deps.brokenCalls.add()) throw error;
  return new AppError("unavailable", error.message, { cause: error });
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
