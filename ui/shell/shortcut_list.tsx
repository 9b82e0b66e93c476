/** The dialog that lists the keyboard shortcuts. @module */

import "../components/page.tsx";
import { Button } from "../components/button.tsx";
import { Dialog } from "../components/dialog.tsx";
import type { OverlayProps } from "./places.ts";
import { addStyles } from "../components/styles.ts";
import styles from "./shortcut_list.css" with { type: "text" };

addStyles(styles);

export default function ShortcutList({ places, onClose }: OverlayProps) {
  const list: [keys: string, what: string][] = [
    ["Ctrl K or ⌘ K", "Search, open and run"],
    ["/", "Filter the list"],
    ...Object.entries(places).map(([key, [, what]]): [string, string] => [
      `g ${key}`,
      `Open the ${what}`,
    ]),
    ["?", "Show these shortcuts"],
    ["Esc", "Close what is open"],
  ];
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl class="shortcuts">
        {list.map(([keys, what]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => key === "or" ? " or " : <kbd key={key}>{key}</kbd>)}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <div class="actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
