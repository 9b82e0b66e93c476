import type { TestApp } from "./test_app.ts";
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

/** The same for events that wait for others, too: the clock goes on until they are due. */
export async function deliverHeld(app: Pick<TestApp, "clock" | "deps">): Promise<void> {
  collectHeld(app);
  await deliverDue(app.deps, { signal: new AbortController().signal });
}

/** Queues what waits for at most 10 seconds; the clock goes on until then. */
export function collectHeld({ clock, deps }: Pick<TestApp, "clock" | "deps">): void {
  const { dueAt } = deps.db.get<{ dueAt: string | null }>(
    "SELECT max(due_at) AS dueAt FROM notification_groups WHERE due_at <= :limit",
    { limit: new Date(deps.now().getTime() + 10_000).toISOString() },
  )!;
  if (dueAt !== null && dueAt > deps.now().toISOString()) clock.set(dueAt);
  for (const channel of deps.channels) channel.collect?.(deps);
}
