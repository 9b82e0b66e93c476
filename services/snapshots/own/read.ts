/** Downloads a backup of Longshore itself from a snapshot. @module */

import type { Holder } from "../../access/shares.ts";
import type { Deps } from "../../deps.ts";
import { openContent } from "../browse.ts";
import { OWN_FILE } from "./content.ts";

/**
 * The archive that a snapshot has, and the time of the snapshot (ISO 8601).
 *
 * @throws {AppError} `not_found`, also for another snapshot; `conflict`; `bad_gateway`;
 * `too_many_requests`.
 */
export async function openOwnBackup(
  deps: Deps,
  caller: Holder,
  id: string,
  { target }: { target?: string | undefined },
  signal: AbortSignal,
): Promise<{ time: string; size: number; body: ReadableStream<Uint8Array> }> {
  const query = { target, path: `/${OWN_FILE}` };
  const { snapshot: { time }, size, body } = await openContent(deps, caller, id, query, signal);
  return { time, size, body };
}
