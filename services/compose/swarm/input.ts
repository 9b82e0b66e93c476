/** Input and result of the jobs of Swarm stacks. @module */

import type { Identity } from "../../containers/reservations.ts";
import type { DeployInput } from "../deploy/job.ts";

export type SwarmDeployInput =
  & Pick<DeployInput, "onFailure" | "removeOrphans" | "services" | "version">
  & { recreate: DeployInput["recreate"] }
  & SwarmDownInput;

export interface SwarmDownInput {
  /** The services of the stack; missing in jobs of older versions. */
  affected?: Identity[];
}

export interface SwarmDownResult {
  services: string[];
  networks: string[];
  secrets: string[];
  configs: string[];
}
