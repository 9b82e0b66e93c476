/** Reload when a part of the dashboard cannot be loaded. @module */

import { PRODUCT } from "../base/product.ts";
import { ROOT } from "../state/root.ts";
import { showAlert } from "../state/toasts.ts";

/** Either the service was updated, so that its files have new names, or it is away. */
export async function reloadIfReachable(): Promise<void> {
  try {
    await fetch(ROOT);
    location.reload();
  } catch {
    showAlert(`${PRODUCT} cannot be reached`);
  }
}
