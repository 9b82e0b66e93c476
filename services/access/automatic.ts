/**
 * Ids of the service itself, which acts for a schedule, a remediation rule, an update policy
 * or a Git repository.
 *
 * @module
 */

const AUTOMATIC = ["schedule", "remediation", "update policy", "git"] as const;

export type AutomaticId = typeof AUTOMATIC[number];

/** Whether it is the service itself, not a user, that acts. */
export const isAutomatic = (userId: string): boolean => AUTOMATIC.some((id) => id === userId);
