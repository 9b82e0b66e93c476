/** Jobs of the worker that fetches and reads repositories: JSON in, JSON out. @module */

import type { Config } from "../../config/config.ts";
import { asAppError, type ErrorCode } from "../../errors.ts";
import { type Bare, fetchCommit, type FollowedRef, openBare } from "./bare.ts";
import type { Remote } from "./http.ts";

/** Settings that the worker needs. */
export type JobConfig = Pick<
  Config,
  "dataDir" | "outboundAllow" | "httpsProxy" | "httpProxy" | "noProxy"
>;

/** Work on the repository `id`; its objects are named by `oid`. */
export type Job =
  | { do: "fetch"; remote: Remote; ref: FollowedRef; isAgain: boolean }
  | { do: "commit" | "tree" | "rawCommit"; oid: string }
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
    if (opened?.id !== id) opened = { id, bare: await openBare(deps, id) };
    const { bare } = opened;
    if (job.do === "blob") return (await bare.blob(job.oid, job.bytesMax))?.toBase64() ?? null;
    if (job.do === "rawCommit") return (await bare.rawCommit(job.oid)).toBase64();
    return await bare[job.do](job.oid);
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
