/** Job target shared by all image checks, so that only one runs at a time. @module */

export const CHECK_TARGET = { targetType: "host", target: "updates" } as const;
