/** Room at a target for a snapshot that arrives: what its sender says about it may be wrong. @module */

import { selectJobs } from "../../../db/jobs.ts";
import type { Repository } from "../../backup/restic/repository.ts";
import { translated } from "../../backup/targets/repository.ts";
import { isOfThisHost } from "../../backup/trees/tags.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { byteText } from "../../text/bytes.ts";
import type { Description } from "./format.ts";
import { RECEIVE, type ReceiveInput, type ReceiveJob } from "./job.ts";

/** Left at the target, in bytes: the default one is beside the service's own data. */
const RESERVE_BYTES = 256 * 1024 ** 2;

/** Bytes that arrive between two looks at the room. */
const LOOK_BYTES = 64 * 1024 ** 2;

/** Jobs in which earlier attempts are looked for. */
const JOBS_MAX = 50;

/**
 * Bytes of a snapshot that may be at the target already: what an earlier attempt has stored, and what a
 * snapshot of the same paths has.
 */
export async function readShared(
  deps: Pick<Deps, "db" | "server">,
  repository: Pick<Repository, "snapshots">,
  { target, input: { targetId }, signal }: Pick<ReceiveJob, "input" | "signal" | "target">,
  { paths }: Pick<Description, "paths">,
): Promise<number> {
  const attempts = selectJobs(deps.db, { kind: [RECEIVE], target }, { limit: JOBS_MAX })
    .filter(({ input }) => (input as ReceiveInput).targetId === targetId)
    .map(({ progress }) => progress?.current ?? 0);
  const known = (await translated(() => repository.snapshots(signal)))
    .filter((each) => isOfThisHost(deps, each) && paths.every((path) => each.paths.includes(path)))
    .map(({ summary }) => summary?.bytes ?? 0);
  return [...attempts, ...known].reduce((most, bytes) => Math.max(most, bytes), 0);
}

/**
 * Copies the pieces of an upload, which are in a buffer of the request: a repository takes pieces for its
 * own.
 *
 * @param readLeft Bytes that are left at the target; `null` if it does not say so.
 * @throws {AppError} `conflict` before the target is full.
 */
export async function* copiesWithin(
  content: AsyncIterable<Uint8Array>,
  readLeft: () => Promise<number | null>,
  place: string,
): AsyncGenerator<Uint8Array> {
  let unseen = LOOK_BYTES;
  for await (const piece of content) {
    unseen += piece.length;
    if (unseen >= LOOK_BYTES) {
      unseen = 0;
      const left = await readLeft();
      if (left !== null && left < RESERVE_BYTES) {
        throw new AppError(
          "conflict",
          `Target ${place} has ${byteText(left)} left, of which a snapshot from elsewhere takes ` +
            `none below ${byteText(RESERVE_BYTES)}; free room there, or choose another target`,
        );
      }
    }
    yield piece.slice();
  }
}
