/** Input, step records and result of the jobs of stacks. @module */

import type { EndpointSettings } from "../../../engine/containers.ts";
import type { NetworkCreateBody } from "../../../engine/networks.ts";
import type { KeptData } from "../../../db/updates/previous.ts";
import type { JobRun } from "../../jobs/kind.ts";
import type { PullPolicy } from "../../images/pull_policy.ts";
import type { Identity } from "../../containers/reservations.ts";
import { withoutValues } from "../../containers/secret_values.ts";
import type { RehearsalChoice } from "../../updates/rehearsal/choice.ts";
import type { Evidence } from "../../updates/run/evidence.ts";
import type { DataResult, UndoneData } from "../../updates/run/job.ts";
import type { Member, Pair } from "../../updates/run/members.ts";
import type { RecreatePolicy } from "../plan/options.ts";
import type { PlannedChange } from "../plan/change.ts";

export const FAILURE_POLICIES = ["rollback", "stop"] as const;

export interface DeployInput {
  /** Of the stored sources. */
  version: number;
  /** Commit that the version was made of. */
  commit?: { commit: string; author: string; message: string; signer?: string };
  /** `null` for that of each service. */
  pull: PullPolicy | null;
  recreate: RecreatePolicy;
  removeOrphans: boolean;
  /** `null` for all. */
  services: string[] | null;
  onFailure: (typeof FAILURE_POLICIES)[number];
  stableSeconds: number | null;
  healthTimeoutSeconds: number | null;
  /** Missing in jobs of older versions. */
  rehearsal?: RehearsalChoice;
  /** Id of the backup target to which the data before it goes; missing if it stays as it is written. */
  targetId?: string | undefined;
  /** Name of the target. */
  place?: string | undefined;
  /** Keys of the services whose data is kept. */
  undone?: string[] | undefined;
  /** Images that a rollback or a restore deploys, whatever their references name by then. */
  images?: NamedImage[] | undefined;
  /** Data that a rollback brings back. */
  restored?: KeptData | undefined;
  /** Whether it may only deploy what stays inside of the project. */
  isConfined?: boolean;
  /** Existing volumes that new containers get in place of anonymous ones. */
  anonymousVolumes?: AnonymousVolume[];
  /** Volumes and directories that its containers mount; missing in jobs of older versions. */
  mounted?: Identity[];
  /** The containers of the project, and those that depend on them. */
  affected: Identity[];
}

/** Volume of one container that the Compose file does not name. */
export interface AnonymousVolume {
  /** Key of the service. */
  service: string;
  /** Of the container, from 1. */
  number: number;
  /** In the container. */
  path: string;
  /** On the engine. */
  volume: string;
}

/** An image before a pull. */
export interface NamedImage {
  reference: string;
  /** `null` if the host did not have it. */
  imageId: string | null;
}

export type DeployJob = JobRun<DeployInput>;

/** The job, whose failed steps have no secret values in their messages. */
export const withoutSecrets = <Input>(
  job: JobRun<Input>,
  values: readonly string[],
): JobRun<Input> => ({
  ...job,
  step: (name, work) =>
    job.step(name, async () => {
      try {
        return await work();
      } catch (error) {
        throw withoutValues(error, values);
      }
    }),
});

/** A change without reasons, which viewers may not see. */
export type AppliedChange = Pick<PlannedChange, "kind" | "name" | "action">;

export interface DeployResult {
  version: number;
  changes: AppliedChange[];
  warnings: string[];
  /** Verdict of the rehearsal; missing without one. */
  rehearsal?: string;
  /** Missing if no data was kept. */
  data?: DataResult;
}

/** Runs a step of a rollback, of which a failure does not stop the others. */
export type Attempt = (work: () => Promise<unknown>) => Promise<void>;

/** The result of a deploy that failed after it had begun. */
export interface FailedDeploy extends DeployResult {
  /** Logs and health checks of the failed containers. */
  evidence: Evidence[];
}

/** Work of a deploy on one service. */
export interface ServiceWork {
  key: string;
  /** Containers that are replaced, with their numbers. */
  replaced: (Member & { number: number })[];
  /** Numbers of the containers that are created. */
  created: number[];
  /** Stopped containers that are started. */
  started: Identity[];
}

/** A network before it is created again. */
export interface ReplacedNetwork {
  /** In the project. */
  key: string;
  /** Creates it as it was. */
  body: NetworkCreateBody;
  /** The containers of the project on it, and how they are connected. */
  attached: { id: string; service: string; endpoint: EndpointSettings }[];
}

/** Record of the step `plan`. */
export interface PlannedDeploy {
  changes: AppliedChange[];
  warnings: string[];
  /** Keys of those that are created. */
  networks: string[];
  /** Those that are created again; missing in jobs of older versions. */
  replacedNetworks?: ReplacedNetwork[];
  volumes: string[];
  /** In the order in which services depend on each other. */
  services: ServiceWork[];
  /** Superfluous containers, which are stopped first and removed last. */
  removed: (Member & { key: string })[];
  /**
   * Containers that depend on replaced ones and are recreated behind all services, in topological
   * order.
   */
  dependents?: Member[];
  /** Ids of all containers of the project before the deploy. */
  existing: string[];
  /** Those that ran and stay as they are; missing in jobs of older versions. */
  untouched?: Identity[];
  /** Missing if the data stays as it is written. */
  undone?: UndoneData | undefined;
}

/** Record of the step that creates the containers of a service. */
export interface CreatedContainers {
  pairs: Pair[];
  /** Those that replace none. */
  fresh: Identity[];
}

export interface DownInput {
  volumes: boolean;
  images: "none" | "local";
  affected: Identity[];
}

export type DownJob = JobRun<DownInput>;

export interface DownResult {
  containers: string[];
  networks: string[];
  volumes: string[];
  images: string[];
  /** About containers of others that depended on these, and what stays for them. */
  warnings: string[];
}
