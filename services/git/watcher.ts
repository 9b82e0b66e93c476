/** The worker that polls repositories, and deploys what is new. @module */

import { type GitRepository, selectGitRepositories } from "../../db/git_repositories.ts";
import { selectGitStacks } from "../../db/git_stacks.ts";
import type { Deps } from "../deps.ts";
import type { Worker } from "../lifecycle.ts";
import { hasOtherLabels, labelsOfHost } from "./labels.ts";

/** Longest wait between rounds: windows open, and deploys end. */
const ROUND_MS = 15_000;

const MINUTE_MS = 60_000;

export const gitWatcher: Worker = {
  name: "git watcher",
  edition: "ce",
  async run(deps, signal, round) {
    // Deliveries of webhooks are only remembered in memory.
    for (const { id } of selectGitRepositories(deps.db)) deps.git.requestLater(id);
    // A slow server does not hold up the others, nor deploys.
    const running = new Map<string, Promise<void>>();
    while (!signal.aborted) {
      for (const [id, fetching] of fetchDue(deps, signal, running)) {
        running.set(id, fetching);
        void fetching.finally(() => {
          running.delete(id);
          deps.git.notify();
        }).catch(() => {});
      }
      await continueAll(deps, signal);
      round();
      await deps.git.wait(ROUND_MS, signal);
    }
    await Promise.allSettled(running.values());
  },
};

/** One round: fetches what is due or requested, then takes the next step of each stack. */
export async function watchRepositories(deps: Deps): Promise<void> {
  await Promise.all(fetchDue(deps).values());
  await continueAll(deps);
}

/** Starts the fetches of repositories that are due or requested. */
function fetchDue(
  deps: Deps,
  signal?: AbortSignal,
  running: ReadonlyMap<string, unknown> = new Map(),
): Map<string, Promise<void>> {
  const requested = deps.git.takeRequested();
  const now = deps.now().getTime();
  const labels = labelsOfHost(deps);
  const due = selectGitRepositories(deps.db).filter((repository) => {
    const { id } = repository;
    if (!requested.includes(id)) return !running.has(id) && isDue(repository, now, labels);
    if (!running.has(id)) return true;
    // The next round fetches what was pushed meanwhile.
    deps.git.requestLater(id);
    return false;
  });
  return new Map(due.map(({ id }) => [id, fetchOne(deps, id, signal)]));
}

async function fetchOne(deps: Deps, id: string, signal: AbortSignal | undefined): Promise<void> {
  // Loaded on first use, because most servers have no repository.
  const { syncRepository } = await import("./sync.ts");
  const { ACTOR } = await import("./deploys.ts");
  // A failure is stored, logged and reported there.
  await syncRepository(deps, id, ACTOR, { signal }).catch(() => {});
}

async function continueAll(deps: Deps, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted || selectGitStacks(deps.db).length === 0) return;
  await (await import("./deploys.ts")).continueStacks(deps);
}

/** A failed fetch is tried again also without polling: what a webhook said would be lost. */
function isDue(
  repository: GitRepository,
  now: number,
  labels: Record<string, string>,
): boolean {
  const { pollMinutes, checkedAt, retryAt } = repository;
  if (retryAt !== null) return now >= Date.parse(retryAt);
  if (hasOtherLabels(repository, labels)) return true;
  if (pollMinutes === 0) return false;
  return checkedAt === null || now - Date.parse(checkedAt) >= pollMinutes * MINUTE_MS;
}
