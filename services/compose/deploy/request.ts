/** Request of a deploy. @module */

import type { PullPolicy } from "../../images/pull_policy.ts";
import type { DataChoice } from "../../updates/labels.ts";
import type { RehearsalRequest } from "../../updates/rehearsal/choice.ts";
import type { PlanOptions } from "../plan/options.ts";
import type { DeployInput } from "./job.ts";

export interface DeployRequest extends PlanOptions, RehearsalRequest {
  /** Default: by the labels of the services, else by the settings. */
  data?: DataChoice | undefined;
  /** Default: the current one. */
  version?: number | undefined;
  /** Nothing is deployed unless this is the current version, e.g. that of the plan. */
  expectedVersion?: number | undefined;
  pull?: PullPolicy | undefined;
  onFailure?: DeployInput["onFailure"] | undefined;
  stableSeconds?: number | undefined;
  /** Limit of the wait for each dependency, and for the verdict about new containers. */
  healthTimeoutSeconds?: number | undefined;
}
