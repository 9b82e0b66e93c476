/** Deleting what the user has confirmed. @module */

import { withResult } from "../state/toasts.ts";
import { confirm } from "./dialog.tsx";
import type { MenuItem } from "./menu.tsx";
import { plain } from "../base/text.ts";

/** Asks, deletes, and shows the result. @returns Whether it was deleted. */
export async function deleteConfirmed(
  name: string,
  consequence: string,
  work: () => Promise<unknown>,
): Promise<boolean> {
  if (!await confirm({ verb: "Delete", name, consequence })) return false;
  return await withResult(`Deleted ${plain(name)}`, work);
}

/**
 * The last item of a row's menu.
 *
 * @param remove Asks first; returns whether it was deleted.
 */
export const deleteItem = (remove: () => Promise<boolean>, onDeleted: () => void): MenuItem => ({
  name: "Delete",
  danger: true,
  onSelect: () => void remove().then((isDone) => isDone && onDeleted()),
});
