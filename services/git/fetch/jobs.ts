/** Jobs of the worker that fetches and reads repositories: JSON in, JSON out. @module */

import type { Config } from "../../config/config.ts";
import { asAppError, type ErrorCode } from "../../errors.ts";
import { type Bare, fetchCommit, type FollowedRef, openBare, readRemoteCommit } from "./bare.ts";
import type { Remote } from "./http.ts";

/** Settings that the worker needs. */
export type JobConfig = Pick<
  Config,
  "dataDir" | "outboundAllow" | "httpsProxy" | "httpProxy" | "noProxy"
>;

/** Work on the repository `id`; its objects are named by `oid`. */
export type Job =
  | { do: "fetch"; remote: Remote; ref: FollowedRef; isAgain: boolean }
  | { do: "newest"; remote: Remote; ref: FollowedRef }
  | { do: "commit" | "rawCommit"; oid: string }
  | { do: "range"; base: string; head: string }
  | { do: "tree"; oid: string; entriesMax: number }
  | { do: "blob"; oid: string; bytesMax: number };

export interface JobMessage {
  config: JobConfig;
  id: string;
  job: Job;
}

/** `failure`: the text of an error that is not for users. */
export type JobAnswer =
  | { value: unknown }
  | { error: { code: ErrorCode; message: string } }
  | { failure: string };

/** Keeps the last repository open, with the index of its packs, until something is fetched. */
export function createJobs(): (message: string) => Promise<string> {
  let opened: { id: string; bare: Bare } | undefined;

  const work = async ({ config, id, job }: JobMessage): Promise<unknown> => {
    const deps = { config: config as Config };
    if (job.do === "fetch") {
      opened = undefined;
      return await fetchCommit(deps, id, job.remote, job.ref, { isAgain: job.isAgain });
    }
    if (job.do === "newest") return await readRemoteCommit(deps, job.remote, job.ref) ?? null;
    if (opened?.id !== id) opened = { id, bare: await openBare(deps, id) };
    const { bare } = opened;
    if (job.do === "blob") return (await bare.blob(job.oid, job.bytesMax))?.toBase64() ?? null;
    if (job.do === "rawCommit") return (await bare.rawCommit(job.oid)).toBase64();
    if (job.do === "range") return await bare.range(job.base, job.head);
    if (job.do === "tree") return await bare.tree(job.oid, job.entriesMax) ?? null;
    return await bare.commit(job.oid);
  };

  return async (message) => {
    let answer: JobAnswer;
    try {
      answer = { value: await work(JSON.parse(message)) };
    } catch (error) {
      const known = asAppError(error);
      answer = known
        ? { error: { code: known.code, message: known.message } }
        : { failure: String((error as Error)?.stack ?? error) };
    }
    return JSON.stringify(answer);
  };
}
