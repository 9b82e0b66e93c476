/**
 * The exit code in an event. The engine overwrites the attributes of an event, except name and
 * image, with the container's labels, so a label `exitCode` replaces the real exit code.
 *
 * @module
 */

import type { EngineEvent } from "../../engine/events.ts";
import { type ReadDeps, refreshContainer } from "./reads.ts";

const EXIT_CODES = ["exitCode", "containerExitCode"] as const;

/**
 * Corrects the exit code of a `die` event. If a label may have replaced it, or the event was too
 * large to read, it is read from the container, and removed if the container is running again or no
 * longer exists.
 */
export async function withRealExitCode(
  deps: ReadDeps,
  event: EngineEvent,
  signal: AbortSignal,
): Promise<EngineEvent> {
  if (event.Action !== "die") return event;
  const { ID: id, Attributes } = event.Actor;
  const known = deps.inventory.get(id) ?? (await refreshContainer(deps, id, signal)).now;
  const isIntact = Attributes !== null && known !== undefined &&
    EXIT_CODES.every((name) => !Object.hasOwn(known.labels, name));
  if (isIntact) return event;

  const exitCode = known && (await refreshContainer(deps, id, signal)).now?.exitCode;
  const { exitCode: _, containerExitCode: __, ...others } = Attributes ?? {};
  const real = typeof exitCode === "number" ? { exitCode: String(exitCode) } : {};
  return { ...event, Actor: { ...event.Actor, Attributes: { ...others, ...real } } };
}
