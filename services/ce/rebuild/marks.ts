/**
 * Names of the two containers of a rebuild while it is under way. They tell people what happened;
 * the service itself decides by the ids that it recorded.
 *
 * @module
 */

/** What the name of one of the two containers says. */
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
