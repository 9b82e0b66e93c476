/** Actions on a stack. @module */

import { useEffect, useRef } from "preact/hooks";
import { api } from "../../api/client.ts";
import type { Stack } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import { containers, stackOf } from "../../state/live.ts";
import { hasRole } from "../../state/session.ts";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";

interface StackState extends Pick<Stack, "name" | "kind" | "status" | "stopped" | "finished"> {
  /** Their number, or they themselves. */
  services: number | readonly unknown[];
}

export const STATUS_TONES = { healthy: "good", degraded: "warn", stopped: "idle" } as const;

const isDeployed = ({ services }: Pick<StackState, "services">): boolean =>
  (typeof services === "number" ? services : services.length) > 0;

/** The status in words. A stack that only has sources is not stopped. */
export const statusOf = (stack: Pick<StackState, "services"> & { status: string }): string =>
  isDeployed(stack) ? stack.status : "not deployed";

const ACTIONS = {
  start: { verb: "Start", done: "Started", operation: "POST /api/stacks/{name}/start" },
  stop: { verb: "Stop", done: "Stopped", operation: "POST /api/stacks/{name}/stop" },
  restart: { verb: "Restart", done: "Restarted", operation: "POST /api/stacks/{name}/restart" },
} as const;

/** The actions that apply now and that the user may run. */
export function stackActions(stack: StackState, onChange: () => void) {
  if (!isDeployed(stack)) return [];
  const isStopped = stack.status === "stopped";
  // A degraded stack may have nothing to start: one is unhealthy, or those stopped have finished.
  const canStart = isStopped || stack.status === "degraded" && stack.stopped > stack.finished;
  return [
    ...canStart ? ["start"] as const : [],
    ...isStopped ? [] : ["stop", "restart"] as const,
  ].filter((action) => hasRole("admin", `stacks:${action}`)).map((action) => ({
    action,
    verb: ACTIONS[action].verb,
    run: () => void runOnStack(stack, action).then(onChange),
  }));
}

/** Runs an action, and reports what it did or where it failed. */
async function runOnStack(
  { name, kind }: Pick<StackState, "name" | "kind">,
  action: keyof typeof ACTIONS,
): Promise<void> {
  const { done, verb, operation } = ACTIONS[action];
  try {
    const { ok, results } = await api(operation, { path: { name }, query: { kind } });
    if (ok) return showStatus(`${done} ${plain(name)}`);
    const failures = results.filter(({ error }) => error !== null)
      .map((result) => plain(`${result.name}: ${result.error}`));
    showAlert(`${verb} failed for ${failures.length} of ${results.length}. ${failures.join("; ")}`);
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}

/** Reads again when a container of a stack is added, removed or changes its state. */
export function useReloadOnStates(reload: () => void): void {
  const states = containers.value
    ?.filter((container) => stackOf(container) !== null)
    .map(({ id, state, exitCode, health }) => `${id} ${state} ${exitCode} ${health}`).sort().join();
  const known = useRef(states);
  useEffect(() => {
    if (states === known.current) return;
    const isFirst = known.current === undefined;
    known.current = states;
    if (!isFirst) reload();
  }, [states]);
}
