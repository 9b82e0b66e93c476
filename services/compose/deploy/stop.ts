/** Stops containers that a deploy replaces or removes. @module */

import type { Deps } from "../../deps.ts";
import { inspectIfThere } from "../../updates/run/members.ts";
import { stopAside } from "../../updates/run/swap.ts";
import type { Project } from "../load/resolve.ts";
import { runHooks } from "./hooks.ts";

/**
 * Stops containers one after another, after the hooks of their services. Those that are gone are left
 * out.
 *
 * @param members With the key of the service; `null` for one of others.
 */
export async function stopWithHooks(
  deps: Deps,
  { services }: Project,
  members: readonly { id: string; service: string | null }[],
  signal: AbortSignal,
): Promise<void> {
  for (const { id, service } of members) {
    await runHooks(deps, service === null ? undefined : services[service], "pre_stop", id, signal);
    const container = await inspectIfThere(deps.engine, id);
    if (container) await stopAside(deps, container);
  }
}
