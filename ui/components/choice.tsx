/** One of a few options, all of which are visible. @module */

import { addStyles } from "./styles.ts";
import styles from "./choice.css" with { type: "text" };

addStyles(styles);

/** @param props.nameOf What an option is called; by default its value. */
export function Choice<Value extends string>(
  { name, values, value, nameOf = (value) => value, onChange }: {
    name: string;
    values: readonly Value[];
    value: Value;
    nameOf?: (value: Value) => string;
    onChange: (value: Value) => void;
  },
) {
  return (
    <fieldset class="choice" role="radiogroup">
      <legend>{name}</legend>
      {values.map((each) => (
        <label key={each} class="check">
          <input
            type="radio"
            name={name}
            checked={value === each}
            onChange={() => onChange(each)}
          />
          {nameOf(each)}
        </label>
      ))}
    </fieldset>
  );
}
