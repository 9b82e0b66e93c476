/** Copies texts. @module */

import { showStatus } from "../state/toasts.ts";

/** Copies a text that is shown, and reports it. */
export async function copyText(shown: HTMLElement, text: string): Promise<void> {
  getSelection()?.selectAllChildren(shown);
  try {
    await navigator.clipboard.writeText(text);
    showStatus("Copied to the clipboard");
  } catch {
    // Browsers allow it over TLS and on localhost only; the text is selected.
    showStatus("Selected; copy it with the keyboard");
  }
}
