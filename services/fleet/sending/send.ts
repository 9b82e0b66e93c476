/**
 * Sends a snapshot over the link, and lets the host restore it. Its archive goes from the repository that
 * it is in to the host, which stores it in a repository of its own: no key of a repository leaves its
 * host, what the host has is not sent to its target again, and what arrives can be restored, tried out
 * and checked like each snapshot that it made.
 *
 * @module
 */

import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { failInterrupted, JobEnd } from "../../jobs/kind.ts";
import { openArchive, STALL_MAX_MS } from "../../snapshots/transfer/archive.ts";
import { ARCHIVE_TYPE } from "../../snapshots/transfer/format.ts";
import { every } from "../../waiting.ts";
import { findHost } from "../passing/pass.ts";
import { type Answer, askHost, type JobUser, requestOfHost } from "./host_requests.ts";
import type { SendJob, SendResult } from "./job.ts";

/** Longest time of a transfer, in milliseconds. */
const TRANSFER_MAX_MS = 48 * 60 * 60_000;

/** Interval between looks at the host's restore, and time without an answer after which it is given up. */
const LOOK_MS = 1_000;
const SILENT_MAX_MS = 15 * 60_000;

/** Longest wait for a cancellation at the host, in milliseconds. */
const CANCEL_MS = 5_000;

/** Names of restored parts that are kept, and their length in characters. */
const NAMES_MAX = 1_000;
const NAME_MAX = 300;

/** A snapshot that has arrived. */
type Arrived = Pick<SendResult, "added" | "snapshot" | "target">;

/** @throws {AppError} With the reason of the host that refused or failed. */
export async function sendSnapshot(deps: Deps, job: SendJob): Promise<SendResult> {
  const { attachment: user, input: { host, restored } } = job;
  if (!user) return await failInterrupted();
  const arrived = await job.step("send", () => transfer(deps, job, user));
  const result = { host: host.name, ...arrived, restored: null };
  if (restored === null) return result;
  return { ...result, restored: await restoreThere(deps, job, user, arrived) };
}

async function transfer(deps: Deps, job: SendJob, user: JobUser): Promise<Arrived> {
  const { input: { host, snapshot, size, hostTarget } } = job;
  const reading = new AbortController();
  const signal = AbortSignal.any([job.signal, reading.signal]);
  const source = await openSource(deps, job, user, signal);
  let failure: unknown;
  let current = 0;
  async function* counted() {
    try {
      for await (const piece of source) {
        yield piece;
        current += piece.length;
        job.progress({
          current,
          total: size !== null && size > current ? size : null,
          message: null,
        });
      }
    } catch (error) {
      failure = sourceError(job, error);
      throw error;
    }
  }
  const query = new URLSearchParams({ snapshot });
  if (size !== null) query.set("size", String(size));
  if (hostTarget !== null) query.set("target", hostTarget);
  try {
    const answer = await askHost(deps, findHost(deps, user.caller, host.id), user, {
      method: "POST",
      target: `/api/backup/snapshots/receive?${query}`,
      content: { stream: ReadableStream.from(counted()), type: ARCHIVE_TYPE },
      signal,
      headMs: TRANSFER_MAX_MS,
    });
    return arrivedOf(host.name, answer);
  } catch (error) {
    throw failure ?? error;
  } finally {
    reading.abort();
    if (!source.locked) await source.cancel().catch(() => {});
  }
}

/** The stream of a host that breaks says only that it was closed. */
function sourceError({ input: { from } }: SendJob, error: unknown): unknown {
  if (from === null || error instanceof AppError) return error;
  const message = `The archive of host ${from.name} ended early`;
  return new AppError("unavailable", message, { cause: error });
}

async function openSource(
  deps: Deps,
  { input: { from, place, snapshot, targetId } }: SendJob,
  user: JobUser,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  if (from === null) {
    const target = targetId ?? place;
    return (await openArchive(deps, user.caller, snapshot, { target }, signal)).body;
  }
  const { body } = await requestOfHost(deps, findHost(deps, user.caller, from.id), user, {
    method: "GET",
    target: `/api/backup/snapshots/${snapshot}/archive?target=${encodeURIComponent(place)}`,
    signal,
    // The other host may wait for its turn, or for its target.
    stallMaxMs: STALL_MAX_MS,
  });
  if (body) return body;
  throw new AppError("bad_gateway", `Host ${from.name} sent no archive`);
}

function arrivedOf(name: string, { snapshot, target, added }: Answer): Arrived {
  const isId = typeof snapshot === "string" && /^[0-9a-f]{64}$/.test(snapshot);
  if (!isId || typeof target !== "string" || !Number.isSafeInteger(added)) {
    throw new AppError("bad_gateway", `Host ${name} does not say what it has stored`);
  }
  return { snapshot, target: target.slice(0, 100), added: added as number };
}

/** @returns Names of volumes, and directories. */
async function restoreThere(
  deps: Deps,
  job: SendJob,
  user: JobUser,
  { snapshot, target }: Arrived,
): Promise<string[]> {
  const { input: { as, restored: what } } = job;
  const host = findHost(deps, user.caller, job.input.host.id);
  const body = { what, to: "new", target, ...(as !== null && { as }) };
  const id = await job.step("restore", async () => {
    job.signal.throwIfAborted();
    const path = `/api/backup/snapshots/${snapshot}/restore`;
    // A cancelled request may have started a restore, which only its id can end.
    const signal = deps.jobs.stopping;
    const started = await askHost(deps, host, user, { method: "POST", target: path, body, signal });
    if (typeof started.id === "string" && /^[0-9a-f-]{1,64}$/.test(started.id)) return started.id;
    throw new AppError("bad_gateway", `Host ${host.name} started no restore`);
  });
  return await job.step("verify", async () => {
    const { status, error, result } = await waitForRestore(deps, job, user, id);
    if (status === "succeeded") return namesIn(result);
    const reason = typeof error === "string" ? error.slice(0, 500) : String(status).slice(0, 40);
    throw new JobEnd(
      "failed",
      `Host ${host.name} has the snapshot ${
        snapshot.slice(0, 8)
      } and could not restore it: ${reason}`,
    );
  });
}

/** A host may send anything, and results are stored. */
function namesIn(result: unknown): string[] {
  const { restored } = (result ?? {}) as Answer;
  return (Array.isArray(restored) ? restored : [])
    .filter((each): each is string => typeof each === "string")
    .slice(0, NAMES_MAX)
    .map((each) => each.slice(0, NAME_MAX).toWellFormed());
}

/**
 * Waits for the end of the host's job, also while the link is away or the host refuses requests for some
 * time. The host's job goes on if this service stops.
 */
async function waitForRestore(
  deps: Deps,
  { input: { host: { id: hostId } }, signal }: SendJob,
  user: JobUser,
  id: string,
): Promise<Answer> {
  const host = findHost(deps, user.caller, hostId);
  const ask = (method: "GET" | "POST", target: string, signal: AbortSignal) =>
    askHost(deps, host, user, { method, target, signal });
  let answeredAt = performance.now();
  for await (const _ of every(LOOK_MS, signal)) {
    try {
      const job = await ask("GET", `/api/jobs/${id}`, signal);
      if (job.endedAt !== null) return job;
      answeredAt = performance.now();
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const isFinal = error.code === "not_found" || error.code === "forbidden";
      if (!isFinal && performance.now() - answeredAt <= SILENT_MAX_MS) continue;
      const message = `Host ${host.name} may go on with its restore, job ${id}; ${error.message}`;
      throw new AppError(error.code, message, { cause: error });
    }
  }
  if (!deps.jobs.stopping.aborted) {
    await ask("POST", `/api/jobs/${id}/cancel`, AbortSignal.timeout(CANCEL_MS)).catch(() => {});
  }
  throw signal.reason;
}
