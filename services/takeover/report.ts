/** Report of a scan, as administrators see it: without the texts of files and without secret values. @module */

import type { SourceOrigin } from "../compose/validate.ts";
import type { StackDirectory } from "./directories.ts";
import type { Manager } from "./managers.ts";
import type { TakeoverPlan } from "./plan.ts";

/** A place with files for a stack. */
export interface CandidateView {
  kind: SourceOrigin["kind"];
  path: string | null;
  through?: string | undefined;
  /** ISO 8601, UTC; `null` if unknown. */
  modifiedAt: string | null;
  plan: TakeoverPlan | null;
  /** Why it cannot be used. */
  error?: string | undefined;
}

/** A stack that another program has deployed. */
export interface TakeoverStack {
  name: string;
  /** Names. */
  containers: string[];
  /** The proposal: the first of `candidates`. */
  source: {
    kind: SourceOrigin["kind"] | "none";
    path: string | null;
    through?: string | undefined;
  };
  /** Best first. */
  candidates: CandidateView[];
  /** Of the proposal; `null` without one. */
  plan: TakeoverPlan | null;
  /** Base of relative paths; `null` if the sources have none. */
  base: string | null;
  /** The program that deployed it, if it runs in a container. */
  manager: string | null;
  /** Unit of systemd that owns its containers. */
  unit: string | null;
  notes: string[];
}

/** A container that is not in a stack. */
export interface LooseContainer {
  id: string;
  name: string;
  image: string;
  unit: string | null;
}

export interface TakeoverReport {
  stacks: TakeoverStack[];
  directories: StackDirectory[];
  containers: LooseContainer[];
  managers: Manager[];
}
