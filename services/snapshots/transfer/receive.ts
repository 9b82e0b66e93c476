/** Receives the snapshot of another host, as a job for which its client waits. @module */

import type { Caller } from "../../access/caller.ts";
import { targetForSnapshot } from "../../backup/targets/open.ts";
import type { Deps } from "../../deps.ts";
import { startJob } from "../../jobs/runner.ts";
import type { Arriving, ReceivedSnapshot } from "./job.ts";
import { receiveKind } from "./kinds.ts";

/**
 * Stores an archive. It is listed as a snapshot of this host, of the time at which it arrived, or not
 * at all; what was stored of one that did not arrive whole is reused by the next attempt.
 *
 * @param request.snapshot Id at the other host, or the beginning of it.
 * @param request.target Id or name; default: the default target.
 * @throws {AppError} `conflict` for an archive that cannot be stored, without a target, without room
 * there, and while the same snapshot arrives; `bad_gateway` if the target fails.
 * @throws The error of the archive.
 */
export async function receiveSnapshot(
  deps: Deps,
  caller: Caller,
  { snapshot, size, target: ref }: {
    snapshot: string;
    size: number | null;
    target?: string | undefined;
  },
  arriving: Arriving,
): Promise<ReceivedSnapshot & { job: string }> {
  try {
    const { id: targetId, name: place } = await targetForSnapshot(deps, ref);
    const { job, completion } = startJob(deps, receiveKind, {
      target: `snapshot ${snapshot.slice(0, 8)}`,
      input: { snapshot, targetId, place, size },
      attachment: arriving,
      caller,
      signal: arriving.disconnected,
    });
    return { job: job.id, ...await completion };
  } finally {
    // One that was refused, or waited for its turn in vain, was not read.
    if (!arriving.content.locked) await arriving.content.cancel().catch(() => {});
  }
}
