/**
 * Forms: fields with their problems, and dialogs that create or change something. The browser's own
 * inputs hold the values; a form reads them when it is sent.
 *
 * @module
 */

import { type ComponentChildren, createContext } from "preact";
import { useContext, useEffect, useId, useRef } from "preact/hooks";
import { type Signal, useSignal } from "@preact/signals";
import { api, ApiError, type InputOf, type ResultOf } from "../api/client.ts";
import type { Operations } from "../api/types.ts";
import { useKeep, useKept } from "../state/kept.ts";
import { sentenceOf, showStatus } from "../state/toasts.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { toLocalInput } from "../base/local_time.ts";
import { capital, plain } from "../base/text.ts";

/**
 * Values by field name: text, a number of a number field (`undefined` if empty), a boolean of a
 * checkbox, and a list of the checked values where several have the same name.
 */
// deno-lint-ignore no-explicit-any
export type FormValues = Record<string, any>;

/** Problems by field name. */
const Problems = createContext<Record<string, string>>({});

/** Entries from before the session ended. */
const Kept = createContext<FormValues>({});

/** The value that a field has at first. */
function useInitial<Value>(name: string, value: Value): Value {
  const kept = useContext(Kept);
  return name in kept ? kept[name] : value;
}

interface FormProps {
  /** Distinguishes it from other forms of the page. Default: what the button says. */
  name?: string;
  children: ComponentChildren;
  /** Text of the button. */
  submit: string;
  /** Rejects with the service's refusal, which the form shows. */
  onSubmit: (values: FormValues) => Promise<void>;
  onCancel?: () => void;
}

/**
 * Checks its fields and sends nothing while one is invalid. What was entered is there again after
 * the session has ended meanwhile, except for secrets.
 */
export function Form({ name, children, submit, onSubmit, onCancel }: FormProps) {
  const form = useRef<HTMLFormElement>(null);
  const problems = useSignal<Record<string, string>>({});
  const refusal = useSignal<string | undefined>(undefined);
  const isBusy = useSignal(false);
  const kept = useKept<FormValues>(name ?? submit);
  const isChanged = useSignal(kept !== undefined);
  useKeep(name ?? submit, () => isChanged.value ? openValuesOf(form.current!) : undefined);

  const show = (found: Record<string, string>) => {
    problems.value = found;
    const first = inputsOf(form.current!).find(({ name }) => name in found);
    const folded = first?.closest("details");
    if (folded) folded.open = true;
    first?.focus();
  };
  const send = async (event: Event) => {
    event.preventDefault();
    if (isBusy.value) return;
    refusal.value = undefined;
    const element = form.current!;
    const found = problemsOf(element);
    show(found);
    if (Object.keys(found).length > 0) return;
    isBusy.value = true;
    try {
      await onSubmit(valuesOf(element));
      isChanged.value = false;
    } catch (error) {
      refusal.value = sentenceOf(error);
      // The form may have been closed meanwhile.
      if (error instanceof ApiError && form.current) show(problemsByField(error, element));
    } finally {
      isBusy.value = false;
    }
  };

  return (
    <form
      ref={form}
      class="form"
      noValidate
      onInput={() => isChanged.value = true}
      onSubmit={send}
    >
      {kept && isChanged.value && (
        <p class="note">Restored from before your session ended, except for secrets.</p>
      )}
      <Kept.Provider value={kept ?? {}}>
        <Problems.Provider value={problems.value}>{children}</Problems.Provider>
      </Kept.Provider>
      {refusal.value !== undefined && <p class="note danger" role="alert">{refusal.value}</p>}
      <div class="actions">
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        <Button submit kind="primary" busy={isBusy.value}>{submit}</Button>
      </div>
    </form>
  );
}

interface DialogProps extends Omit<FormProps, "name" | "onCancel"> {
  title: string;
  wide?: boolean;
  onClose: () => void;
}

/** A form in a dialog, which it closes after it was sent. */
export function FormDialog({ title, wide, onClose, ...form }: DialogProps) {
  return (
    <Dialog title={title} wide={wide ?? false} onClose={onClose}>
      <Form
        {...form}
        name={title}
        onCancel={onClose}
        onSubmit={async (values) => {
          await form.onSubmit(values);
          onClose();
        }}
      />
    </Dialog>
  );
}

/** A form in a dialog that creates something, or changes the item that there is already. */
export function EditDialog<Item extends object, Saved extends Item>(
  { noun, item, nameOf = nameOfItem, save, onSaved, ...dialog }:
    & Omit<DialogProps, "title" | "submit" | "onSubmit">
    & SaveProps<Saved>
    & {
      /** Noun of the created object, e.g. `rule`. */
      noun: string;
      item: Item | undefined;
      /** Default: its name or title. */
      nameOf?: (item: Item) => string;
      save: (values: FormValues) => Promise<Saved>;
    },
) {
  return (
    <FormDialog
      {...dialog}
      title={item ? `Edit ${plain(nameOf(item))}` : `New ${noun}`}
      submit={item ? "Save" : "Create"}
      onSubmit={async (values) => {
        const saved = await save(values);
        onSaved(saved);
        showStatus(`${item ? "Saved" : "Created"} ${plain(nameOf(saved))}`);
      }}
    />
  );
}

const nameOfItem = (item: { name?: string; title?: string }) => item.name ?? item.title ?? "";

/** A path below which objects are created, and changed by their id. */
type Collection = {
  [Name in keyof Operations]: Name extends `POST ${infer Path}`
    ? Extract<keyof Operations, `PUT ${Path}/{${string}}`> extends never ? never : Path
    : never;
}[keyof Operations];

/**
 * Creates an object, or changes it if there is one already.
 *
 * @param within The parameters of the path, if it has any.
 */
export function saveItem<Path extends Collection>(
  path: Path,
  item: { id: string } | undefined,
  body: InputOf<`POST ${Path}`> extends { body: infer Body } ? Body : never,
  ...[within]: InputOf<`POST ${Path}`> extends { path: infer Within } ? [within: Within] : []
): Promise<ResultOf<`POST ${Path}`>> {
  const call = api as (...args: unknown[]) => Promise<ResultOf<`POST ${Path}`>>;
  return item
    ? call(`PUT ${path}/{id}`, { path: { ...within as object, id: item.id }, body })
    : call(`POST ${path}`, { path: within, body });
}

/** Properties of a dialog that creates or changes an object of a page. */
export interface SaveProps<Saved = unknown> {
  onClose: () => void;
  onSaved: (saved: Saved) => void;
}

interface FieldProps {
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
  /** It is not kept when the session ends. */
  secret?: boolean | undefined;
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
  autocomplete?: "off" | "on" | "username" | "current-password" | "new-password";
}

export function TextField(
  { label, name, hint, value, secret, check, type = "text", ...input }: InputProps,
) {
  const initial = useInitial(name, value);
  return (
    <Field label={label} name={name} hint={hint}>
      {(attributes) => (
        <input
          {...attributes}
          {...input}
          {...checkedBy(check)}
          type={type as "text"}
          data-secret={secret}
          spellcheck={false}
          defaultValue={initial ?? ""}
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
  /** It is not kept when the session ends. */
  secret?: boolean | undefined;
  required?: boolean;
  rows?: number;
  /** Shown in the font of code, without a spelling check. */
  code?: boolean;
  check?: Check;
  placeholder?: string;
}

export function TextArea(
  { label, name, hint, value, secret, required, rows = 4, code, check, placeholder }: AreaProps,
) {
  const initial = useInitial(name, value);
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
          data-secret={secret}
          spellcheck={!code}
          defaultValue={initial ?? ""}
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
  options: readonly Option[];
  /** Has the value at first, and each that is chosen. */
  choice?: Signal<Value>;
}

export function SelectField<Value extends string>(
  { label, name, hint, choice, value = choice?.value, required, options }: SelectProps<Value>,
) {
  const initial = useInitial(name, value);
  useEffect(() => {
    if (choice && initial !== value) choice.value = initial as Value;
  }, []);
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
          {options.map(withName).map(({ value: own, name: shown }) => (
            <option key={own} value={own} selected={own === initial}>{plain(shown)}</option>
          ))}
        </select>
      )}
    </Field>
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
  const initial = useInitial<boolean | string[] | undefined>(name, checked);
  const isChecked = Array.isArray(initial) ? initial.includes(value!) : initial ?? false;
  return (
    <label class="check">
      <input type="checkbox" name={name} value={value} defaultChecked={isChecked} />
      {label}
    </label>
  );
}

/** Several checkboxes with a common name; their value is the list of the checked ones. */
export function CheckGroup(
  { label, name, options, parts = [], checked, hint, required, children }: FieldProps & {
    /** Values, or values with their names. */
    options: readonly Option[];
    /** Further options with titles of their own. */
    parts?: readonly { title: string; options: readonly Option[] }[];
    /** After the first options. */
    children?: ComponentChildren;
    checked: readonly string[];
    /** At least one has to be checked. */
    required?: boolean;
  },
) {
  const id = useId();
  const initial = useInitial(name, checked);
  const count = useSignal(initial.length);
  const isMissing = required === true && count.value === 0;
  const problem = useContext(Problems)[name];
  const description = problem === undefined ? hint && `${id}-hint` : `${id}-problem`;
  const onChange = ({ currentTarget }: { currentTarget: HTMLElement }) => {
    count.value = currentTarget.querySelectorAll(`[name="${name}"]:checked`).length;
  };
  const box = (option: Option, at: number) => {
    const { value, name: shown, title } = withName(option);
    return (
      <label key={value} class="check" title={title}>
        <input
          type="checkbox"
          name={name}
          value={value}
          defaultChecked={initial.includes(value)}
          // The first one has the problem of the group.
          ref={(input) =>
            input?.setCustomValidity(isMissing && at === 0 ? "Select at least one" : "")}
          aria-invalid={problem !== undefined && at === 0 ? "true" : undefined}
          aria-describedby={description && at === 0 ? description : undefined}
        />
        {plain(shown)}
      </label>
    );
  };
  return (
    <fieldset class="field check-group" onChange={onChange}>
      <legend>{label}</legend>
      <div>
        {options.map(box)}
        {children}
      </div>
      {parts.map(({ title, options: own }) => (
        <fieldset key={title}>
          <legend>{title}</legend>
          <div>{own.map((option, at) => box(option, options.length + at))}</div>
        </fieldset>
      ))}
      {problem !== undefined
        ? <p id={`${id}-problem`} class="problem">{problem}</p>
        : hint && <p id={`${id}-hint`} class="hint">{hint}</p>}
    </fieldset>
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
      options: readonly Option[],
      { initial, ...more }: Omit<More<SelectProps<Value>>, "options"> = {},
    ) => <SelectField {...bind(label, name, initial)} options={options} {...more} />,
    check: (label: string, name: Name, initial = false) => (
      <CheckField label={label} name={name} checked={(item?.[name] ?? initial) as boolean} />
    ),
  };
}

type Option = string | {
  value: string;
  name: string;
  /** The tooltip of a checkbox. */
  title?: string;
};

/** Options with a capital letter and spaces, e.g. `partial_outage` as `Partial outage`. */
export const optionsOf = (values: readonly string[]) =>
  values.map((value) => ({ value, name: capital(value.replaceAll("_", " ")) }));

const withName = (option: Option): Exclude<Option, string> =>
  typeof option === "string" ? { value: option, name: option } : option;

type Input = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

const inputsOf = (form: HTMLFormElement): Input[] =>
  [...form.elements].filter((each): each is Input => "name" in each && each.name !== "");

function problemsOf(form: HTMLFormElement): Record<string, string> {
  return Object.fromEntries(
    inputsOf(form)
      .filter((field) => !field.validity.valid)
      .map((field) => [field.name, field.validationMessage]),
  );
}

/**
 * Each problem at the field with the longest name that is a part of its path. A problem that only
 * the service's sentence names (`body.url: ...`) counts as well.
 */
function problemsByField(
  { issues, message }: ApiError,
  form: HTMLFormElement,
): Record<string, string> {
  const names = inputsOf(form).map(({ name }) => name).sort((a, b) => b.length - a.length);
  const [, path, problem] = /^(body\.[\w.]+): (.+)$/.exec(message) ?? [];
  const found = issues.length === 0 && path && problem ? [{ path, message: problem }] : issues;
  return Object.fromEntries(found.flatMap(({ path, message }) => {
    const at = path.replace(/^body\./, "");
    const name = names.find((each) => at === each || at.startsWith(`${each}.`));
    return name === undefined ? [] : [[name, message]];
  }));
}

/** Current values of the fields. */
export function valuesOf(form: HTMLFormElement): FormValues {
  const values: FormValues = {};
  for (const field of inputsOf(form)) {
    if (!(field instanceof HTMLInputElement)) {
      values[field.name] = field.value;
    } else if (field.type === "checkbox") {
      if (!field.hasAttribute("value")) values[field.name] = field.checked;
      else (values[field.name] ??= []).push(...field.checked ? [field.value] : []);
    } else if (field.type === "number") {
      values[field.name] = field.value === "" ? undefined : field.valueAsNumber;
    } else if (field.type === "file") {
      values[field.name] = field.files?.[0];
    } else {
      values[field.name] = field.type === "password" ? field.value : field.value.trim();
    }
  }
  return values;
}

/** The same without secrets and files. */
function openValuesOf(form: HTMLFormElement): FormValues {
  const values = valuesOf(form);
  for (const { name, type, dataset } of inputsOf(form)) {
    if (type === "password" || type === "file" || "secret" in dataset) delete values[name];
  }
  return values;
}

/** The pairs of a text with one `name=value` in each line, e.g. labels. */
export function pairsOf(text: string): Record<string, string> {
  const lines = text.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return Object.fromEntries(lines.map((line) => {
    const [, name, value] = /^([^=]*)=?(.*)$/.exec(line)!;
    return [name!.trim(), value!.trim()];
  }));
}

/** The items of a text with commas between them; `null` for none. */
export function listOf(text: string): string[] | null {
  const items = text.split(",").map((each) => each.trim()).filter(Boolean);
  return items.length > 0 ? items : null;
}

/** A switch that acts at once. */
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
