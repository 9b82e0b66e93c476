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

/** Pages by the key after `g`. */
const PLACES: Readonly<Record<string, readonly [path: string, what: string]>> = {
  o: ["/", "overview"],
  c: ["/containers", "containers"],
  l: ["/logs", "logs"],
  s: ["/stacks", "stacks"],
  i: ["/images", "images"],
  u: ["/updates", "updates"],
  n: ["/networks", "networks"],
  v: ["/volumes", "volumes"],
  h: ["/host", "host"],
  a: ["/alerts", "alerts"],
};

const LIST: readonly (readonly [keys: string, what: string])[] = [
  ["Ctrl K or ⌘ K", "Search, open and run"],
  ["/", "Filter the list"],
  ...Object.entries(PLACES).map(([key, [, what]]) => [`g ${key}`, `Open the ${what}`] as const),
  ["?", "Show these shortcuts"],
  ["Esc", "Close what is open"],
];

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
    const place = PLACES[event.key];
    if (place) navigate(place[0]);
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
