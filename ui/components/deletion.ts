/** Deletions that the user confirms. @module */

import { plain } from "../base/text.ts";
import type { hasRole } from "../state/session.ts";
import { withResult } from "../state/toasts.ts";
import { confirm } from "./dialog.tsx";
import { nameOfRow } from "./listing.tsx";
import type { MenuItem } from "./menu.tsx";

/** The lowest role that may do something, and the permission that allows it, too. */
export type Access = Parameters<typeof hasRole>;

/** The confirmation and the request that delete an object. */
export interface Deletion<Row> {
  /** Default: `Delete`. */
  verb?: keyof typeof PAST;
  /** Default: those who may write. */
  access?: Access;
  /** Default: its name or title. */
  nameOf?: (row: Row) => string;
  /** Loss, in sentences of the confirmation. Without them nothing is asked or deleted. */
  consequence: (row: Row) => string | undefined | Promise<string | undefined>;
  work: (row: Row) => Promise<unknown>;
  /** The user has to type the name. */
  typed?: boolean;
}

const PAST = { Delete: "Deleted", Remove: "Removed", Revoke: "Revoked" };

/** The last item of an object's menu: asks, deletes, and shows the result. */
export const deleteItem = <Row>(
  row: Row,
  deletion: Deletion<Row>,
  onDeleted: () => void,
): MenuItem => ({
  name: deletion.verb ?? "Delete",
  danger: true,
  onSelect: () => void deleteConfirmed(row, deletion).then((isDone) => isDone && onDeleted()),
});

/** @returns Whether it was deleted. */
async function deleteConfirmed<Row>(row: Row, deletion: Deletion<Row>): Promise<boolean> {
  const { verb = "Delete", nameOf = nameOfRow, typed = false } = deletion;
  const consequence = await deletion.consequence(row);
  if (consequence === undefined) return false;
  const name = nameOf(row);
  if (!await confirm({ verb, name, consequence, typed })) return false;
  return await withResult(`${PAST[verb]} ${plain(name)}`, () => deletion.work(row));
}
