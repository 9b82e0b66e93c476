/** The messages about results, in a corner. @module */

import { IconButton } from "./button.tsx";
import { Icon } from "./icon.tsx";
import { dismiss, toasts } from "../state/toasts.ts";

export function Toasts() {
  return (
    <div class="toasts">
      {toasts.value.map(({ id, kind, text }) => (
        <div key={id} class={`toast ${kind}`}>
          <Icon name={kind === "alert" ? "alert" : "check"} />
          <p role={kind} aria-label={text} data-message={id}>{text}</p>
          <IconButton name="Dismiss" icon="cross" onClick={() => dismiss(id)} />
        </div>
      ))}
    </div>
  );
}
