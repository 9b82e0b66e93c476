/** Keyboard shortcuts. @module */

import { useEffect } from "preact/hooks";
import { navigate } from "../state/router.ts";
import { session } from "../state/session.ts";
import { loadPalette, openPalette, openShortcuts } from "./overlays.tsx";
import { PLACES } from "./places.ts";

/** Longest pause before the second key of two, in milliseconds. */
const SECOND_KEY_MS = 1_500;

/** Follows the keys of the document while the component is shown. */
export function useShortcuts(): void {
  useEffect(() => {
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

let first: { key: string; at: number } | undefined;

function onKeyDown(event: KeyboardEvent): void {
  if (!session.peek()) return focusFilter(event);
  // The palette is there when the next key follows.
  if (event.key === "Control" || event.key === "Meta") void loadPalette().catch(() => {});
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    return openPalette();
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
  if (document.querySelector("dialog[open]")) return;
  const before = first && event.timeStamp - first.at < SECOND_KEY_MS ? first.key : undefined;
  first = undefined;
  if (before === "g") {
    const place = PLACES[event.key];
    if (place) navigate(place[0]);
  } else if (event.key === "g") {
    first = { key: "g", at: event.timeStamp };
  } else if (event.key === "?") {
    openShortcuts();
  } else {
    focusFilter(event);
  }
}

function focusFilter(event: KeyboardEvent): void {
  const filter = document.querySelector<HTMLElement>("main input[type=search]");
  if (event.key !== "/" || isTyping(event) || !filter) return;
  event.preventDefault();
  filter.focus();
}

function isTyping(event: KeyboardEvent): boolean {
  // The target of a key in a shadow root is the element that has the root.
  const [target] = event.composedPath();
  return target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("textarea, select, input:not([type=checkbox])"));
}
