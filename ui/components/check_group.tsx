/** Groups of checkboxes in forms. @module */

import type { ComponentChildren } from "preact";
import { useContext, useId, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { plain } from "../base/text.ts";
import { Button } from "./button.tsx";
import { type FieldProps, type Option, type OptionGroup, Problems, withName } from "./fields.tsx";
import { addStyles } from "./styles.ts";
import styles from "./check_group.css" with { type: "text" };

addStyles(styles);

/** A checkbox that chooses some of the values and no others. */
interface Shortcut {
  name: string;
  values: readonly string[];
}

interface CheckGroupProps extends FieldProps {
  /** Values, or values with their names. */
  options: readonly Option[];
  /** Further options, which are folded. */
  groups?: readonly OptionGroup[];
  /** After the first options. */
  shortcut?: Shortcut | undefined;
  checked: readonly string[];
  /** At least one has to be checked. */
  required?: boolean;
}

/** Several checkboxes with a common name; their value is the list of the checked ones. */
export function CheckGroup(
  { label, name, options, groups = [], shortcut, checked, hint, required }: CheckGroupProps,
) {
  const id = useId();
  const fieldset = useRef<HTMLFieldSetElement>(null);
  const chosen = useSignal<readonly string[]>(checked);
  const isMissing = required === true && chosen.value.length === 0;
  const problem = useContext(Problems)[name];
  const description = problem === undefined ? hint && `${id}-hint` : `${id}-problem`;
  const choose = (values: readonly string[]) => {
    chosen.value = values;
    // The form notices only what its inputs report.
    fieldset.current!.dispatchEvent(new Event("input", { bubbles: true }));
  };
  const box = (option: Option, isFirst: boolean) => {
    const { value, name: shown, title } = withName(option);
    return (
      <label key={value} class="check" title={title}>
        <input
          type="checkbox"
          name={name}
          value={value}
          checked={chosen.value.includes(value)}
          onChange={({ currentTarget }) => {
            const others = chosen.value.filter((each) => each !== value);
            chosen.value = currentTarget.checked ? [...others, value] : others;
          }}
          // The first one has the problem of the group.
          ref={(input) =>
            input?.setCustomValidity(isMissing && isFirst ? "Select at least one" : "")}
          aria-invalid={problem !== undefined && isFirst ? "true" : undefined}
          aria-describedby={description && isFirst ? description : undefined}
        />
        {plain(shown)}
      </label>
    );
  };
  return (
    <fieldset ref={fieldset} class="field check-group">
      <legend>{label}</legend>
      <div>
        {options.map((option, at) => box(option, at === 0))}
        {shortcut && (
          <label class="check">
            <input
              type="checkbox"
              checked={isSame(chosen.value, shortcut.values)}
              onChange={({ currentTarget }) => choose(currentTarget.checked ? shortcut.values : [])}
            />
            {shortcut.name}
          </label>
        )}
      </div>
      {groups.map((group) => (
        <Folded key={group.title} group={group} chosen={chosen.value} onChoose={choose}>
          {group.options.map((option) =>
            box(option, false)
          )}
        </Folded>
      ))}
      {problem !== undefined
        ? <p id={`${id}-problem`} class="problem">{problem}</p>
        : hint && <p id={`${id}-hint`} class="hint">{hint}</p>}
    </fieldset>
  );
}

/** A group whose summary says how many are chosen. */
function Folded({ group: { title, options }, chosen, onChoose, children }: {
  group: OptionGroup;
  chosen: readonly string[];
  onChoose: (chosen: readonly string[]) => void;
  children: ComponentChildren;
}) {
  const own = options.map((option) => withName(option).value);
  const count = own.filter((value) => chosen.includes(value)).length;
  const others = chosen.filter((value) => !own.includes(value));
  return (
    <details>
      <summary>
        {title} <span class={count === 0 ? "muted" : "badge"}>{count} of {own.length} chosen</span>
      </summary>
      <div role="group" aria-label={title}>
        {children}
        <p>
          <Button kind="quiet" onClick={() => onChoose([...others, ...own])}>All</Button>
          <Button kind="quiet" onClick={() => onChoose(others)}>None</Button>
        </p>
      </div>
    </details>
  );
}

const isSame = (some: readonly string[], others: readonly string[]): boolean =>
  others.length > 0 && some.length === others.length &&
  others.every((value) => some.includes(value));
