/**
 * A fetched repository, whose packs are read in a worker: what a server sends takes neither the time nor
 * the memory of the service. The worker begins with the first job and ends with the repository.
 *
 * @module
 */

import { RunawayError } from "../../compose/loader.ts";
import { abortable } from "../../deadline.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { Bare, FollowedRef } from "./bare.ts";
import { failure, type Remote } from "./http.ts";
import type { Job, JobAnswer, JobMessage } from "./jobs.ts";

export interface FetchedRepository extends Bare, Disposable {
  /** As `fetchCommit()`. */
  fetch(remote: Remote, ref: FollowedRef, isAgain: boolean): Promise<string>;
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
    tree: (oid) => run({ do: "tree", oid }),
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
