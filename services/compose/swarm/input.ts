/** Input and result of the jobs of Swarm stacks. @module */

import type { DeployInput } from "../deploy/job.ts";

export type SwarmDeployInput =
  & Pick<DeployInput, "onFailure" | "removeOrphans" | "services" | "version">
  & { recreate: DeployInput["recreate"] };

export interface SwarmDownResult {
  services: string[];
  networks: string[];
  secrets: string[];
  configs: string[];
}
