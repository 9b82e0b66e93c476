/** Whether the first steps are shown; kept in this browser. @module */

import { signal } from "@preact/signals";

const KEY = "get-started";

const HIDDEN = "hidden";

export const isGetStartedShown = signal(read() !== HIDDEN);

export function showGetStarted(shown: boolean): void {
  isGetStartedShown.value = shown;
  try {
    if (shown) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, HIDDEN);
  } catch { /* Storage is turned off in this browser. */ }
}

function read(): string | null {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // Storage is turned off in this browser.
  }
}
