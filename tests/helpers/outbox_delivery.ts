import type { Deps } from "../../services/deps.ts";
import { createDeliverer } from "../../services/events/outbox.ts";

/** Sends all due messages, including those that become due meanwhile, and waits for them. */
export async function deliverDue(
  deps: Deps,
  options: { signal: AbortSignal; retryMs?: readonly number[] },
): Promise<void> {
  const deliverer = createDeliverer(deps, options);
  do {
    deliverer.start();
    if (deliverer.busy) await deliverer.idle();
    else return;
  } while (!options.signal.aborted);
}
