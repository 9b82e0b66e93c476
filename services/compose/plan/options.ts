/** Options of a plan and of the deploy that follows it. @module */

export const RECREATE_POLICIES = ["changed", "always", "never"] as const;
export type RecreatePolicy = typeof RECREATE_POLICIES[number];

/** Options of a deploy. */
export interface PlanOptions {
  /** Containers that are recreated. Default `changed`. */
  recreate?: RecreatePolicy | undefined;
  /** Whether containers of services that the project does not have are removed. Default false. */
  removeOrphans?: boolean | undefined;
  /** Only these, and those that they depend on. */
  services?: readonly string[] | undefined;
}
