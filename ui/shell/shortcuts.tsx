/**
 * Keyboard shortcuts, and the dialog that lists them.
 *
 * @module
 */

import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import { navigate } from "../state/router.ts";
import { openPalette } from "./palette.tsx";

const isOpen = signal(false);

export const openShortcuts = () => void (isOpen.value = true);

/** How long the second key of two may take, in milliseconds. */
const SECOND_KEY_MS = 1_500;

const LIST: readonly [keys: string, what: string][] = [
  ["Ctrl K or ⌘ K", "Search, open and run"],
  ["/", "Filter the list"],
  ["g o", "Open the overview"],
  ["g c", "Open the containers"],
  ["g i", "Open the images"],
  ["g n", "Open the networks"],
  ["g v", "Open the volumes"],
  ["g h", "Open the host"],
  ["?", "Show these shortcuts"],
  ["Esc", "Close what is open"],
];

const PLACES: Record<string, string> = {
  o: "/",
  c: "/containers",
  i: "/images",
  n: "/networks",
  v: "/volumes",
  h: "/host",
};

export function Shortcuts() {
  useEffect(() => {
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
  if (!isOpen.value) return null;
  const close = () => void (isOpen.value = false);
  return (
    <Dialog title="Keyboard shortcuts" onClose={close}>
      <dl class="shortcuts">
        {LIST.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => key === "or" ? " or " : <kbd key={key}>{key}</kbd>)}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div class="actions">
        <Button onClick={close}>Close</Button>
      </div>
    </Dialog>
  );
}

let first: { key: string; at: number } | undefined;

function onKeyDown(event: KeyboardEvent): void {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    return openPalette();
  }
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
  if (document.querySelector("dialog[open]")) return;
  const before = first && event.timeStamp - first.at < SECOND_KEY_MS ? first.key : undefined;
  first = undefined;
  if (before === "g") {
    const to = PLACES[event.key];
    if (to !== undefined) navigate(to);
  } else if (event.key === "g") {
    first = { key: "g", at: event.timeStamp };
  } else if (event.key === "?") {
    openShortcuts();
  } else if (event.key === "/") {
    const filter = document.querySelector<HTMLElement>("main input[type=search]");
    if (!filter) return;
    event.preventDefault();
    filter.focus();
  }
}

function isTyping(event: KeyboardEvent): boolean {
  // The target of a key in a shadow root is the element that has the root.
  const [target] = event.composedPath();
  return target instanceof HTMLElement &&
    (target.isContentEditable || target.matches("textarea, select, input:not([type=checkbox])"));
}
