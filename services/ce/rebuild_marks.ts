/**
 * How a rebuild under way is recognised: by the names of its two containers, which outlive this
 * process, and within this process by a list.
 *
 * @module
 */

import type { Engine } from "../../engine/client.ts";
import { AppError } from "../errors.ts";

/** What the name of one of the two containers tells. */
export interface RebuildMark {
  /** The name that the container has had, or is to have. */
  name: string;
  /** `new`: the container that is to take the name; `old`: the one that gave it up. */
  role: "new" | "old";
  /** Whether the old container ran, so that the name's holder is to run. */
  ran: boolean;
  /** First digits of the old container's id. */
  oldId: string;
}

const ID_LENGTH = 12;

const MARKED = /^(.+)-longshore-(new|old)-(running|stopped)-([0-9a-f]{12})$/;

/** E.g. `web-longshore-old-running-0123456789ab`. */
export function markedName({ name, role, ran, oldId }: RebuildMark): string {
  return `${name}-longshore-${role}-${ran ? "running" : "stopped"}-${oldId.slice(0, ID_LENGTH)}`;
}

/** Reads a container's name; `undefined` for one that has nothing to do with a rebuild. */
export function readMark(containerName: string): RebuildMark | undefined {
  const match = MARKED.exec(containerName);
  if (!match) return undefined;
  const [, name = "", role, state, oldId = ""] = match;
  return { name, role: role as RebuildMark["role"], ran: state === "running", oldId };
}

/** Names that are being rebuilt, per engine. */
const underway = new WeakMap<Engine, Set<string>>();

/** @throws {AppError} `conflict` when a container of that name is being rebuilt already. */
export function beginRebuild(engine: Engine, name: string): Disposable {
  const names = underway.get(engine) ?? new Set();
  underway.set(engine, names);
  if (names.has(name)) throw new AppError("conflict", `Container ${name} is being rebuilt already`);
  names.add(name);
  return { [Symbol.dispose]: () => void names.delete(name) };
}

/** Whether this process is at work on a container of that name. */
export function isBeingRebuilt(engine: Engine, name: string): boolean {
  return underway.get(engine)?.has(name) ?? false;
}
