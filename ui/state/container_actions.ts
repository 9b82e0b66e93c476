/** Actions on containers: what applies now, and doing it. @module */

import { api } from "../api/client.ts";
import type { Container } from "../api/types.ts";
import { plain } from "../base/text.ts";
import { hasRole } from "./session.ts";
import { showAlert, showStatus, withResult } from "./toasts.ts";

export const ACTIONS = {
  start: { verb: "Start", done: "Started", operation: "POST /api/containers/{id}/start" },
  stop: { verb: "Stop", done: "Stopped", operation: "POST /api/containers/{id}/stop" },
  restart: { verb: "Restart", done: "Restarted", operation: "POST /api/containers/{id}/restart" },
} as const;

export type Action = keyof typeof ACTIONS;

/** Limit of containers in one request of the API. */
const BULK_MAX = 20;

/** The actions that apply to a container and that the user may run. */
export function actionsFor({ state, self }: { state: string; self: boolean }): Action[] {
  if (self) return [];
  const isUp = state === "running" || state === "restarting" || state === "paused";
  return (isUp ? ["stop", "restart"] as const : ["start"] as const).filter(mayRun);
}

/** Whether the user may run an action on containers. */
export const mayRun = (action: Action): boolean => hasRole("operator", `containers:${action}`);

/** @param host Name of the host of the fleet that has the container; that of the document without it. */
export function runAction(
  { id, name }: Pick<Container, "id" | "name">,
  action: Action,
  host?: string,
): Promise<boolean> {
  const { done, operation } = ACTIONS[action];
  return withResult(`${done} ${plain(name)}`, () => api(operation, { path: { id } }, { host }));
}

/** Runs an action on several containers, and shows one result for all. */
export async function runOnAll(ids: readonly string[], action: Action): Promise<void> {
  const { done, verb } = ACTIONS[action];
  const failures: string[] = [];
  let succeeded = 0;
  for (let at = 0; at < ids.length; at += BULK_MAX) {
    try {
      const { results } = await api("POST /api/containers/bulk", {
        body: { ids: ids.slice(at, at + BULK_MAX), action },
      });
      succeeded += results.filter(({ ok }) => ok).length;
      failures.push(...results.flatMap(({ error }) => error ?? []));
    } catch (error) {
      failures.push((error as Error).message);
    }
  }
  if (succeeded > 0) {
    showStatus(`${done} ${succeeded} ${succeeded === 1 ? "container" : "containers"}`);
  }
  if (failures.length > 0) showAlert(`${verb} failed: ${[...new Set(failures)].join("; ")}`);
}
