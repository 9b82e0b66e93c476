/** Ids of the service itself, which acts for a schedule, a remediation rule or an update policy. @module */

const AUTOMATIC = ["schedule", "remediation", "update policy"] as const;

export type AutomaticId = typeof AUTOMATIC[number];

/** Whether it is the service itself, not a user, that acts. */
export const isAutomatic = (userId: string): boolean => AUTOMATIC.some((id) => id === userId);
