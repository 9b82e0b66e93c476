/** A switch that acts at once. @module */

import { addStyles } from "./styles.ts";
import styles from "./switch.css" with { type: "text" };

addStyles(styles);

export function Switch({ name, checked, disabled, onChange }: {
  name: string;
  checked: boolean;
  disabled?: boolean;
  onChange: (checked: boolean) => void;
}) {
  return (
    <input
      type="checkbox"
      role="switch"
      class="switch"
      aria-label={name}
      title={name}
      checked={checked}
      disabled={disabled}
      onChange={(event) => onChange(event.currentTarget.checked)}
    />
  );
}
