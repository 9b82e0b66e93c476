/** Report of a scan, as administrators see it: without the texts of files and without secret values. @module */

import type { SourceOrigin } from "../compose/origin.ts";
import type { KnownProgram } from "../updates/other_programs.ts";

/** Plan of a deploy of the sources. */
export interface TakeoverPlan {
  /** Whether the containers are as the sources say; those that are stopped count as such. */
  changesNothing: boolean;
  /** Services whose containers a deploy would recreate. */
  recreates: string[];
  /** Services that have no containers, or not as many. */
  creates: string[];
  /** Services of containers that the sources do not have. */
  unknown: string[];
  /** E.g. `web: environment: LOG_LEVEL added`; without secret values. */
  reasons: string[];
}

/** A directory that can be deployed. */
export interface StackDirectory {
  /** Of the project. */
  name: string;
  /** Absolute, on the host. */
  path: string;
  /** Names of the services; empty after an error. */
  services: string[];
  /** The first error of the files. */
  error?: string;
}

/** Another program on the host. */
export interface Manager {
  /** Of the program; of an unknown one, that of its container. */
  name: string;
  image: string;
  /** Name of the container. */
  container: string;
  /** Containers that it updates by itself: all of the host, or those of its own stacks. */
  updates: KnownProgram["updates"];
  /** Names of the stacks that it deployed, or of all that it updates. */
  stacks: string[];
  /** The setting that ends its updates; empty if it has none. */
  setting: string;
}

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
  /** The first Compose file in the labels of the containers; `null` if they name none. */
  configFile: string | null;
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
  /** Those of STACK_ROOTS whose directories this service cannot list. */
  unlisted: string[];
  containers: LooseContainer[];
  managers: Manager[];
}
