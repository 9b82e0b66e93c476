/**
 * The state of a row that can be switched.
 *
 * @module
 */

import { Switch } from "./form.tsx";
import { plain } from "./text.ts";

/** The switch "Enable <name>", and the state in words. */
export function SwitchCell({ name, state, ...control }: {
  name: string;
  /** Default: Enabled or Disabled. */
  state?: string | undefined;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}) {
  return (
    <span class="switch-cell">
      <Switch name={`Enable ${plain(name)}`} {...control} />
      {state ?? (control.checked ? "Enabled" : "Disabled")}
    </span>
  );
}
