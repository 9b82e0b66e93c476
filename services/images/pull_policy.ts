/** When an image is pulled before a container is created from it. @module */

export const PULL_POLICIES = ["always", "missing", "never"] as const;
/** When the image is pulled: always, only if it is missing, or never. */
export type PullPolicy = (typeof PULL_POLICIES)[number];
