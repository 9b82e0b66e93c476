/** Distinguishes the failure of an update from the loss of the engine or of the service. @module */

import { connectEngine, type Engine } from "../../../engine/client.ts";
import { EngineUnreachableError, type UnreachableReason } from "../../../engine/errors.ts";
import { systemPing } from "../../../engine/system.ts";
import type { Deps } from "../../deps.ts";

/**
 * Reasons that can be those of one container, e.g. of one that hangs when it starts, while the engine
 * answers other calls. A connection that breaks is not among them: an engine that restarts may answer
 * again at once.
 */
const OWN_REASONS: ReadonlySet<UnreachableReason> = new Set(["protocol", "timeout"]);

/**
 * Called with an error that is about to count as a failure.
 *
 * @throws What continues the job later: the service stops, or the engine is away or stopping.
 */
export async function throwIfInterrupted(
  { engine, jobs }: Pick<Deps, "engine" | "jobs">,
  error: unknown,
): Promise<void> {
  const isAway = error instanceof EngineUnreachableError && !OWN_REASONS.has(error.reason);
  if (isAway || jobs.stopping.aborted) throw error;
  await assertEngineStays(engine);
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
