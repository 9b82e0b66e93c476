/** Names of the steps that keep data and bring it back. @module */

export const COPY = "copy";
export const KEEP = "keep";
export const KEEP_AGAIN = "keep_again";

/** Snapshots that one job makes of data that was written again and again. */
export const KEPT_MAX = 10;

/** @param at From 1. */
export const keepAgainStep = (at: number): string => at === 1 ? KEEP_AGAIN : `${KEEP_AGAIN}_${at}`;

export const WRITE = "write";
/** Begins with the first change of {@linkcode WRITE}. */
export const EMPTY = "empty";
export const KEEP_WRITTEN = "keep_written";
export const PUT_BACK = "put_back";
/** Begins with the first change of {@linkcode PUT_BACK}. */
export const EMPTY_WRITTEN = "empty_written";

/** Words for them. */
export const DATA_STEPS = {
  [COPY]: "Copy the data while the container runs",
  [KEEP]: "Stop the old container and keep its data",
  [KEEP_AGAIN]: "Keep the data again that was written since",
  [WRITE]: "Bring the earlier data back",
  [EMPTY]: "Empty the volumes",
  [KEEP_WRITTEN]: "Keep the data that the new version wrote",
  [PUT_BACK]: "Bring the data back",
  [EMPTY_WRITTEN]: "Empty the volumes",
};
