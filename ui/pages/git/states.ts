/** Texts of stacks that follow a repository. @module */

import type { GitRepository } from "../../api/types.ts";
import type { Tone } from "../../components/states.tsx";

export type GitState = GitRepository["stacks"][number]["state"];

export const GIT_STATES: Record<GitState, { state: string; tone: Tone }> = {
  waiting: { state: "no version yet", tone: "idle" },
  refused: { state: "commit refused", tone: "bad" },
  orphaned: { state: "not in the repository", tone: "warn" },
  drift: { state: "edited here", tone: "warn" },
  rewritten: { state: "history rewritten", tone: "warn" },
  failed: { state: "deploy failed", tone: "bad" },
  behind: { state: "not deployed", tone: "busy" },
  current: { state: "deployed", tone: "good" },
};

export const shortCommit = ({ id }: { id: string }): string => id.slice(0, 10);

/** Commits that are counted; the service stops there. */
const COMMITS_MAX = 1_000;

/** E.g. `3 commits behind`; empty if it is not known. */
export function behindText(behind: number | null): string {
  if (behind === null || behind === 0) return "";
  if (behind > COMMITS_MAX) return "1,000+ commits behind";
  return behind === 1 ? "1 commit behind" : `${behind} commits behind`;
}

export const DEPLOYS = [
  { value: "manual", name: "By hand" },
  { value: "plan", name: "Report the plan" },
  { value: "auto", name: "Deploy automatically" },
];
