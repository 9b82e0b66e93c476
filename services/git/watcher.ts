/** The worker that polls repositories, and deploys what is new. @module */

import { type GitRepository, selectGitRepositories } from "../../db/git_repositories.ts";
import { selectGitStacks } from "../../db/git_stacks.ts";
import type { Deps } from "../deps.ts";
import { asAppError } from "../errors.ts";
import type { Worker } from "../lifecycle.ts";

/** Longest wait between rounds: windows open, and deploys end. */
const ROUND_MS = 15_000;

const MINUTE_MS = 60_000;

export const gitWatcher: Worker = {
  name: "git watcher",
  edition: "ce",
  async run(deps, signal, round) {
    while (!signal.aborted) {
      await watchRepositories(deps, signal);
      round();
      await deps.git.wait(ROUND_MS, signal);
    }
  },
};

/** Fetches what is due or requested, then takes the next step of each stack. */
export async function watchRepositories(deps: Deps, signal?: AbortSignal): Promise<void> {
  const requested = deps.git.takeRequested();
  const now = deps.now().getTime();
  for (const repository of selectGitRepositories(deps.db)) {
    const isRequested = requested.includes(repository.id);
    if (signal?.aborted || !(isRequested || isDue(repository, now))) continue;
    // Loaded on first use, because most servers have no repository.
    const { syncRepository } = await import("./sync.ts");
    const { ACTOR } = await import("./deploys.ts");
    try {
      await syncRepository(deps, repository.id, ACTOR, { signal });
    } catch (error) {
      // It is stored and reported.
      if (!asAppError(error)) throw error;
    }
  }
  if (signal?.aborted || selectGitStacks(deps.db).length === 0) return;
  await (await import("./deploys.ts")).continueStacks(deps);
}

function isDue({ pollMinutes, checkedAt }: GitRepository, now: number): boolean {
  if (pollMinutes === 0) return false;
  return checkedAt === null || now - Date.parse(checkedAt) >= pollMinutes * MINUTE_MS;
}
