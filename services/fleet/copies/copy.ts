/** A hub's copy of what one host has, in memory. @module */

import {
  type Change,
  FRAMES,
  type HostFigures,
  LIST_NAMES,
  type ListName,
  type Part,
  type Rows,
  ROWS_MAX,
} from "./rows.ts";
import type { Frame } from "./frames.ts";

/** Each part with the time at which the host had it so (ISO 8601, UTC); `null` before the first. */
export interface HostCopy {
  host: HostFigures | null;
  lists: { [Name in ListName]: ReadonlyMap<string, Rows[Name]> };
  asOf: Record<Part, string | null>;
  /** Why the host cannot be followed now; `null` if it can. */
  problem: string | null;
}

/** The copy of a host that has not sent anything yet. */
export const emptyCopy = (): HostCopy => ({
  host: null,
  lists: { containers: new Map(), stacks: new Map(), alerts: new Map(), updates: new Map() },
  asOf: { host: null, containers: null, stacks: null, alerts: null, updates: null },
  problem: null,
});

/**
 * Puts a frame of the host into its copy. Frames of later versions are left out.
 *
 * @throws For a frame that is not as `FRAMES` has it. It is left out as a whole.
 */
export function applyFrame(copy: HostCopy, { event, data }: Frame, at: Date): void {
  const time = at.toISOString();
  if (event === "current") {
    for (const part of FRAMES.current.parse(JSON.parse(data))) copy.asOf[part] = time;
  } else if (event === "host") {
    copy.host = FRAMES.host.parse(JSON.parse(data));
    copy.asOf.host = time;
  } else if (isListName(event)) {
    applyChange(copy, event, FRAMES[event].parse(JSON.parse(data)) as Change<typeof event>);
    copy.asOf[event] = time;
  }
}

const isListName = (event: string): event is ListName =>
  (LIST_NAMES as readonly string[]).includes(event);

function applyChange<Name extends ListName>(
  { lists }: HostCopy,
  name: Name,
  { isWhole, set, removed }: Change<Name>,
): void {
  const rows = new Map<string, Rows[Name]>(isWhole ? [] : lists[name] as Map<string, Rows[Name]>);
  for (const id of removed) rows.delete(id);
  for (const row of set) rows.set(row.id, row);
  if (rows.size > ROWS_MAX[name]) throw new RangeError(`The host has too many ${name}`);
  (lists as Record<ListName, ReadonlyMap<string, unknown>>)[name] = rows;
}
