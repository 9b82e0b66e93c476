/** What checks of images work on, so that only one runs at a time. @module */

export const CHECK_TARGET = { targetType: "host", target: "updates" } as const;
