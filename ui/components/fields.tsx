/** Fields of forms, with their problems. @module */

import { type ComponentChildren, createContext } from "preact";
import { useContext, useId } from "preact/hooks";
import type { Signal } from "@preact/signals";
import { toLocalInput } from "../base/local_time.ts";
import { capital, plain } from "../base/text.ts";

/** Problems by field name. */
export const Problems = createContext<Record<string, string>>({});

export interface FieldProps {
  label: string;
  /** The key of its value. The service reports problems of `body.<name>`. */
  name: string;
  hint?: ComponentChildren;
}

/** Problem of a field's text, in addition to the checks of the browser. */
type Check = (text: string) => string | undefined;

interface InputProps extends FieldProps {
  check?: Check;
  type?: "text" | "number" | "password" | "email" | "url" | "file" | "color" | "datetime-local";
  value?: string | number | undefined;
  required?: boolean;
  pattern?: string;
  min?: number;
  max?: number;
  step?: number | "any";
  minLength?: number;
  maxLength?: number;
  placeholder?: string;
  /** The id of a list of proposals. */
  list?: string;
  autocomplete?: "off" | "on" | "username" | "current-password" | "new-password" | "one-time-code";
}

export function TextField(
  { label, name, hint, value, check, type = "text", ...input }: InputProps,
) {
  return (
    <Field label={label} name={name} hint={hint}>
      {(attributes) => (
        <input
          {...attributes}
          {...input}
          {...checkedBy(check)}
          type={type as "text"}
          spellcheck={false}
          defaultValue={value ?? ""}
        />
      )}
    </Field>
  );
}

/** A time in the browser's time zone; `fromLocalInput()` reads its value. */
export function TimeField({ at, ...field }: FieldProps & {
  /** ISO 8601. */
  at?: string | null | undefined;
  required?: boolean;
}) {
  return <TextField {...field} type="datetime-local" value={toLocalInput(at)} />;
}

interface AreaProps extends FieldProps {
  value?: string | undefined;
  required?: boolean;
  rows?: number;
  /** Shown in the font of code, without a spelling check. */
  code?: boolean;
  check?: Check;
  placeholder?: string;
}

export function TextArea(
  { label, name, hint, value, required, rows = 4, code, check, placeholder }: AreaProps,
) {
  return (
    <Field label={label} name={name} hint={hint}>
      {(attributes) => (
        <textarea
          {...attributes}
          {...checkedBy(check)}
          class={code ? "code" : undefined}
          required={required}
          rows={rows}
          placeholder={placeholder}
          spellcheck={!code}
          defaultValue={value ?? ""}
        />
      )}
    </Field>
  );
}

/** The attributes of an input that reports its own problem like one that the browser finds. */
const checkedBy = (check: Check | undefined) =>
  check && {
    onInput: (
      { currentTarget: input }: { currentTarget: HTMLInputElement | HTMLTextAreaElement },
    ) => input.setCustomValidity(check(input.value) ?? ""),
  };

interface SelectProps<Value extends string> extends FieldProps {
  value?: string | undefined;
  required?: boolean;
  /** Values, or values with their names. */
  options: readonly (Option | OptionGroup)[];
  /** Has the value at first, and each that is chosen. */
  choice?: Signal<Value>;
}

export function SelectField<Value extends string>(
  { label, name, hint, choice, value = choice?.value, required, options }: SelectProps<Value>,
) {
  return (
    <Field label={label} name={name} hint={hint}>
      {(attributes) => (
        <select
          {...attributes}
          required={required}
          onChange={(event) => {
            if (choice) choice.value = event.currentTarget.value as Value;
          }}
        >
          {options.map((each) =>
            typeof each === "object" && "options" in each
              ? (
                <optgroup key={each.title} label={each.title}>
                  {each.options.map((option) => toChoice(option, value))}
                </optgroup>
              )
              : toChoice(each, value)
          )}
        </select>
      )}
    </Field>
  );
}

function toChoice(option: Option, chosen: string | undefined) {
  const { value, name, title } = withName(option);
  return (
    <option key={value} value={value} title={title} selected={value === chosen}>
      {plain(name)}
    </option>
  );
}

/** A checkbox of a form. Several with the same name and their own `value` give a list. */
export function CheckField(
  { label, name, value, checked }: {
    label: string;
    name: string;
    value?: string;
    checked?: boolean;
  },
) {
  return (
    <label class="check">
      <input type="checkbox" name={name} value={value} defaultChecked={checked ?? false} />
      {label}
    </label>
  );
}

/** A label, an input, its problem and a hint. */
function Field({ label, name, hint, children }: FieldProps & {
  children: (attributes: {
    id: string;
    name: string;
    "aria-invalid"?: "true";
    "aria-describedby"?: string;
  }) => ComponentChildren;
}) {
  const id = useId();
  const problem = useContext(Problems)[name];
  const description = problem === undefined ? hint && `${id}-hint` : `${id}-problem`;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {children({
        id,
        name,
        ...(problem !== undefined && { "aria-invalid": "true" }),
        ...(description && { "aria-describedby": description }),
      })}
      {problem !== undefined
        ? <p id={`${id}-problem`} class="problem">{problem}</p>
        : hint && <p id={`${id}-hint`} class="hint">{hint}</p>}
    </div>
  );
}

/** Properties of a field of {@linkcode fieldsOf} besides its label and name. */
type More<Props> = Omit<Props, "label" | "name" | "value"> & {
  /** The value where the object has none. */
  initial?: string | number | undefined;
};

type NumberProps = Pick<InputProps, "hint" | "min" | "max" | "step"> & { optional?: boolean };

/**
 * Fields that have the values of an object's properties and are named after them, e.g.
 * `text("Name", "name", { required: true })`. Numbers are required unless they are optional.
 *
 * @param item Without one, the fields have their initial values.
 */
export function fieldsOf<Item extends object>(item: Item | undefined) {
  type Name = Extract<keyof Item, string>;
  const bind = (label: string, name: Name, initial: string | number | undefined) => {
    const value = (item?.[name] ?? initial) as string | undefined;
    return { label, name, value };
  };
  return {
    text: (label: string, name: Name, { initial, ...more }: More<InputProps> = {}) => (
      <TextField {...bind(label, name, initial)} {...more} />
    ),
    number: (label: string, name: Name, { initial, optional, ...more }: More<NumberProps>) => (
      <TextField {...bind(label, name, initial)} type="number" required={!optional} {...more} />
    ),
    area: (label: string, name: Name, { initial, ...more }: More<AreaProps> = {}) => (
      <TextArea {...bind(label, name, initial)} {...more} />
    ),
    select: <Value extends string>(
      label: string,
      name: Name,
      options: SelectProps<Value>["options"],
      { initial, ...more }: Omit<More<SelectProps<Value>>, "options"> = {},
    ) => <SelectField {...bind(label, name, initial)} options={options} {...more} />,
    check: (label: string, name: Name, initial = false) => (
      <CheckField label={label} name={name} checked={(item?.[name] ?? initial) as boolean} />
    ),
  };
}

export type Option = string | {
  value: string;
  name: string;
  /** A tooltip. */
  title?: string;
};

/** Options with a title of their own. */
export interface OptionGroup {
  title: string;
  options: readonly Option[];
}

/** Options with a capital letter and spaces, e.g. `partial_outage` as `Partial outage`. */
export const optionsOf = (values: readonly string[]) =>
  values.map((value) => ({ value, name: capital(value.replaceAll("_", " ")) }));

export const withName = (option: Option): Exclude<Option, string> =>
  typeof option === "string" ? { value: option, name: option } : option;
