/** Names of jobs about updates, and of their steps. @module */

import type { LiveJob } from "../../state/live.ts";

/** Kinds of jobs that replace one container. */
export const REPLACING_KINDS = ["container.update", "container.rollback", "container.rebuild"];

export function nameOfUpdate({ kind, target }: LiveJob): string {
  if (kind === "updates.check") return "Checking for updates";
  if (kind === "container.rollback") return `Rolling ${target} back`;
  return `${kind === "container.rebuild" ? "Rebuilding" : "Updating"} ${target}`;
}

/** The steps of these jobs in words. */
export const UPDATE_STEPS: Readonly<Record<string, string>> = {
  plan: "Plan",
  pull: "Pull the image",
  create: "Create the new container",
  swap: "Replace the old container",
  verify: "Verify the new container",
  evidence: "Keep its log",
  measure: "Measure the downtime",
  commit: "Remove the old container",
  roll_back: "Put the old container back",
};
