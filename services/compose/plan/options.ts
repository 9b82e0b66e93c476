/** What a plan and the deploy that follows it are asked for. @module */

export const RECREATE_POLICIES = ["changed", "always", "never"] as const;
export type RecreatePolicy = typeof RECREATE_POLICIES[number];

/** What a deploy is asked to do. */
export interface PlanOptions {
  /** Which containers are recreated. Default `changed`. */
  recreate?: RecreatePolicy | undefined;
  /** Whether containers of services that the project does not have are removed. Default false. */
  removeOrphans?: boolean | undefined;
  /** Only these, and those that they depend on. */
  services?: readonly string[] | undefined;
}
