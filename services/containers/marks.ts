/**
 * Temporary names of the containers of a replacement. They are for users; the service relies on the
 * recorded ids.
 *
 * @module
 */

/** The information in a temporary name. */
export interface RebuildMark {
  /** The original name. */
  name: string;
  /**
   * `new`: the container that will get the name; `old`: the container that had it; `copy`: a
   * container like the old one, which the engine removes when it stops.
   */
  role: "new" | "old" | "copy";
  /** Whether the old container was running. */
  ran: boolean;
  /** First digits of the old container's id. */
  oldId: string;
}

const ID_LENGTH = 12;

const MARKED = /^(.+)-longshore-(new|old|copy)-(running|stopped)-([0-9a-f]{12})$/;

/** E.g. `web-longshore-old-running-0123456789ab`. */
export function markedName({ name, role, ran, oldId }: RebuildMark): string {
  return `${name}-longshore-${role}-${ran ? "running" : "stopped"}-${oldId.slice(0, ID_LENGTH)}`;
}

/** Parses a container's name; `undefined` if it does not belong to a replacement. */
export function readMark(containerName: string): RebuildMark | undefined {
  const match = MARKED.exec(containerName);
  if (!match) return undefined;
  const [, name = "", role, state, oldId = ""] = match;
  return { name, role: role as RebuildMark["role"], ran: state === "running", oldId };
}
