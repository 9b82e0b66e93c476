/** A setting that is on or off, with what it does. @module */

import type { ComponentChildren } from "preact";
import { Switch } from "./switch.tsx";

export function Setting({ name, children, ...state }: {
  name: string;
  /** Effect of the setting while it is on. */
  children: ComponentChildren;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}) {
  return (
    <div class="setting">
      <p>
        <strong>{name}</strong>
        <span class="muted">{children}</span>
      </p>
      <Switch name={name} {...state} />
    </div>
  );
}
