/**
 * A repository whose packs and refs are read in a worker: what a server sends takes neither the time nor
 * the memory of the service. The worker begins with the first job and ends with the repository.
 *
 * @module
 */

import { RunawayError } from "../../compose/loader.ts";
import { abortable, withTimeLimit } from "../../deadline.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { type Bare, type Entry, type FollowedRef, readRemoteCommit } from "./bare.ts";
import { failure, isTooLong, type Remote } from "./http.ts";
import type { Job, JobAnswer, JobMessage } from "./jobs.ts";

/** Bytes of an answer that the library reads in some milliseconds. */
const SHORT_BYTES = 64 * 1024;

/** Longest time for a long list of refs, in milliseconds; it takes two requests. */
const REFS_MS = 90_000;

export interface FetchedRepository extends Bare, Disposable {
  /** As `readRemoteCommit()`. */
  newest(remote: Remote, ref: FollowedRef): Promise<string | undefined>;
  /** As `fetchCommit()`. */
  fetch(remote: Remote, ref: FollowedRef, isAgain: boolean): Promise<string>;
}

/**
 * Asks the server for the commit of a ref, without a fetch. A short answer is read in this thread: a worker
 * takes a quarter of a second to start, and most servers list only the ref.
 *
 * @returns The id of the commit; `undefined` if the ref does not exist.
 * @throws {AppError} `bad_gateway`
 */
export async function readNewest(
  deps: Pick<Deps, "config" | "git">,
  id: string,
  remote: Remote,
  ref: FollowedRef,
  signal?: AbortSignal,
): Promise<string | undefined> {
  try {
    return await readRemoteCommit(deps, remote, ref, { signal, bytesMax: SHORT_BYTES });
  } catch (error) {
    if (!isTooLong(error)) throw error;
  }
  const timeoutError = () => failure("The list of refs takes too much time to be read");
  return await deps.git.limit(() =>
    withTimeLimit({ timeoutMs: REFS_MS, timeoutError, signal }, async (signal) => {
      using repository = openRepository(deps, id, signal);
      return await repository.newest(remote, ref);
    })
  );
}

/** @param signal Ends the worker; jobs under way fail. */
export function openRepository(
  { config, git }: Pick<Deps, "config" | "git">,
  id: string,
  signal: AbortSignal = new AbortController().signal,
): FetchedRepository {
  const { dataDir, outboundAllow, httpsProxy, httpProxy, noProxy } = config;
  let started: ReturnType<typeof git.startReader> | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const close = () => {
    started?.then((runner) => runner.close(), () => {});
    started = undefined;
  };
  const perform = async (job: Job): Promise<unknown> => {
    signal.throwIfAborted();
    const message: JobMessage = {
      config: { dataDir, outboundAllow, httpsProxy, httpProxy, noProxy },
      id,
      job,
    };
    try {
      const runner = await (started ??= git.startReader());
      return valueOf(await abortable(runner.run(JSON.stringify(message)), signal));
    } catch (error) {
      if (!(error instanceof RunawayError)) throw error;
      close();
      throw failure("The repository takes too much time or memory to be fetched", error);
    }
  };
  /** A worker has one job at a time. */
  const run = <Result>(job: Job): Promise<Result> => {
    const own = last.then(() => perform(job)) as Promise<Result>;
    last = own.catch(() => {});
    return own;
  };

  return {
    fetch: (remote, ref, isAgain) => run({ do: "fetch", remote, ref, isAgain }),
    commit: (oid) => run({ do: "commit", oid }),
    range: (base, head) => run({ do: "range", base, head }),
    async newest(remote, ref) {
      return await run<string | null>({ do: "newest", remote, ref }) ?? undefined;
    },
    async tree(oid, entriesMax) {
      return await run<Entry[] | null>({ do: "tree", oid, entriesMax }) ?? undefined;
    },
    async rawCommit(oid) {
      return Uint8Array.fromBase64(await run<string>({ do: "rawCommit", oid }));
    },
    async blob(oid, bytesMax) {
      const text = await run<string | null>({ do: "blob", oid, bytesMax });
      return text === null ? undefined : Uint8Array.fromBase64(text);
    },
    [Symbol.dispose]: close,
  };
}

function valueOf(text: string): unknown {
  const answer: JobAnswer = JSON.parse(text);
  if ("value" in answer) return answer.value;
  if ("error" in answer) throw new AppError(answer.error.code, answer.error.message);
  throw new Error("The worker of a repository failed", { cause: answer.failure });
}
