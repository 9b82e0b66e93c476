/**
 * The `left_stopped` table: containers that a move has left stopped, with the restart policy that they
 * get back.
 *
 * @module
 */

import { number, type Row, table, text } from "./columns.ts";

const containers = table("left_stopped", {
  containerId: text(),
  policy: text(),
  maximumRetryCount: number(),
}, { key: "containerId" });

export type LeftStopped = Row<typeof containers>;

export const {
  find: selectLeftStopped,
  all: selectAllLeftStopped,
  replace: replaceLeftStopped,
  delete: deleteLeftStopped,
} = containers;
