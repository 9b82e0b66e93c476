/** Values to enter at another system, each with a button that copies it. @module */

import { useRef } from "preact/hooks";
import { copyText } from "../base/copy.ts";
import { plain } from "../base/text.ts";
import { IconButton } from "../components/button.tsx";
import { addStyles } from "../components/styles.ts";
import styles from "./setup_values.css" with { type: "text" };

addStyles(styles);

/** @param props.values By name. */
export function SetupValues({ values }: { values: Readonly<Record<string, string>> }) {
  return (
    <dl class="setup-values">
      {Object.entries(values).map(([name, value]) => (
        <Value
          key={name}
          name={name}
          value={value}
        />
      ))}
    </dl>
  );
}

function Value({ name, value }: { name: string; value: string }) {
  const shown = useRef<HTMLElement>(null);
  return (
    <div>
      <dt>
        {name}
        <IconButton
          name={`Copy ${name}`}
          icon="copy"
          onClick={() => void copyText(shown.current!, value)}
        />
      </dt>
      <dd>
        <code ref={shown}>{plain(value)}</code>
      </dd>
    </div>
  );
}
