/**
 * The exit code in an event. The engine copies a container's labels over the attributes that it
 * sets itself, all but name and image, so that a label `exitCode` takes the place of the real one.
 *
 * @module
 */

import type { EngineEvent } from "../../../engine/events.ts";
import { type ReadDeps, refreshContainer } from "./reads.ts";

const EXIT_CODES = ["exitCode", "containerExitCode"] as const;

/**
 * Keeps the exit code of a `die` event only where no label can have set it. Otherwise it is that of
 * the container, unless this runs again or is gone.
 */
export async function withRealExitCode(
  deps: ReadDeps,
  event: EngineEvent,
  signal: AbortSignal,
): Promise<EngineEvent> {
  if (event.Action !== "die") return event;
  const { ID: id, Attributes } = event.Actor;
  const known = deps.inventory.get(id) ?? (await refreshContainer(deps, id, signal)).now;
  if (known && EXIT_CODES.every((name) => !Object.hasOwn(known.labels, name))) return event;

  const exitCode = known && (await refreshContainer(deps, id, signal)).now?.exitCode;
  const { exitCode: _, containerExitCode: __, ...others } = Attributes ?? {};
  const real = typeof exitCode === "number" ? { exitCode: String(exitCode) } : {};
  return { ...event, Actor: { ...event.Actor, Attributes: { ...others, ...real } } };
}
