/** The config of a notification channel in a form, by the fields of its kind. @module */

import type { ChannelKind, ChannelKindField, NotificationChannel } from "../../api/types.ts";
import { SelectField, TextArea, TextField } from "../../components/fields.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { HeadersField, headersOf } from "../../parts/headers_field.tsx";

type Config = NotificationChannel["config"];

/** Stands for a stored secret. */
const REDACTED = "********";

/** Limits of the service. */
const TEXT_MAX = 2_048;
const NUMBER_MAX = 2 ** 31 - 1;

/** The value of `name` is in the field `config.<name>`, as in the service's problems. */
const keyOf = (name: string) => `config.${name}`;

export function ConfigFields({ kind, value }: { kind: ChannelKind; value: Config }) {
  return kind.fields.map((field) => (
    <ConfigField key={field.name} field={field} value={value[field.name]} />
  ));
}

function ConfigField({ field, value }: {
  field: ChannelKindField;
  value: Config[string] | undefined;
}) {
  const { label, type, isSecret, isRequired, options, placeholder } = field;
  const name = keyOf(field.name);
  const isStored = isSecret && value !== undefined;
  const hint = isStored ? "Stored encrypted; ******** keeps the stored value" : field.hint;
  const common = {
    label,
    name,
    secret: isSecret,
    required: isRequired,
    ...(hint !== null && { hint }),
    ...(placeholder !== null && { placeholder }),
  };
  if (type === "headers") {
    return <HeadersField name={name} value={value as Record<string, string> | undefined} />;
  }
  if (options) {
    return <SelectField label={label} name={name} value={String(value ?? "")} options={options} />;
  }
  if (type === "list" || type === "template") {
    const text = Array.isArray(value) ? value.join("\n") : value as string | undefined;
    return <TextArea {...common} value={text} rows={type === "list" ? 2 : 4} code />;
  }
  if (type === "number") {
    return (
      <TextField
        {...common}
        type="number"
        value={value as number | undefined}
        min={0}
        max={NUMBER_MAX}
        step={1}
      />
    );
  }
  return (
    <TextField
      {...common}
      value={value as string | undefined}
      maxLength={TEXT_MAX}
      autocomplete="off"
      {...type === "address" && { check: addressProblem }}
    />
  );
}

const addressProblem = (text: string): string | undefined =>
  text === "" || text === REDACTED || /^https?:\/\//i.test(text)
    ? undefined
    : "Must be an http or https URL";

/** The config in a form's values; `null` removes the stored value of a field without text. */
export function configOf(
  { fields }: ChannelKind,
  values: FormValues,
): Record<string, Config[string] | null> {
  return Object.fromEntries(
    fields.map((field) => [field.name, valueOf(field, values[keyOf(field.name)])]),
  );
}

function valueOf(
  { type }: ChannelKindField,
  value: string | number | undefined,
): Config[string] | null {
  if (value === undefined || String(value).trim() === "") return null;
  if (type === "number" || value === REDACTED) return value;
  const text = String(value);
  switch (type) {
    case "headers":
      return headersOf(text);
    case "list":
      return text.split("\n").map((line) => line.trim()).filter(Boolean);
  }
  return text;
}
