/** The settings of an integration, by the fields that its adapter has. @module */

import type { Integration, IntegrationAdapter } from "../../api/types.ts";
import { SelectField, TextArea, TextField } from "../../components/fields.tsx";
import { type FormValues, listOf } from "../../components/form_values.ts";
import { HeadersField, headersOf } from "../../parts/headers_field.tsx";
import { capital } from "../../base/text.ts";

type Config = Integration["config"];

/** The words of fields whose names do not say enough. */
const LABELS: Record<string, string> = {
  url: "URL",
  api_url: "API URL",
  apiKey: "API key",
  appKey: "Application key",
  accessKeyId: "Access key ID",
  serviceIds: "Service IDs",
};

const HINTS: Record<string, string> = {
  api_url: "Only for a gateway that replaces the system's own API",
  serviceIds: "Separated by commas; without any, all services",
  region: "E.g. eu-central-1",
  site: "E.g. datadoghq.eu",
  queries:
    'A JSON list, e.g. [{"name": "Requests", "query": "sum(rate(http_requests_total[5m]))"}]',
  fieldMappings: 'A JSON list, e.g. [{"name": "Used", "path": "disks.0.used", "unit": "bytes"}]',
};

/** The value of `name` is in the field `config.<name>`, as in the service's problems. */
const keyOf = (name: string) => `config.${name}`;

export function ConfigFields({ adapter: { config }, value }: {
  adapter: IntegrationAdapter;
  value: Config;
}) {
  const names = [...config.required, ...config.optional];
  return names.map((name) => (
    <ConfigField
      key={name}
      name={name}
      value={value[name]}
      required={config.required.includes(name)}
      isSecret={config.sensitive.includes(name)}
    />
  ));
}

function ConfigField({ name, value, required, isSecret }: {
  name: string;
  value: unknown;
  required: boolean;
  isSecret: boolean;
}) {
  const key = keyOf(name);
  const label = LABELS[name] ?? labelOf(name);
  switch (name) {
    case "headers":
      return <HeadersField name={key} value={value as Record<string, string> | undefined} />;
    case "method":
      return (
        <SelectField
          label={label}
          name={key}
          value={value as string | undefined}
          options={["GET", "POST"]}
        />
      );
    case "queries":
    case "fieldMappings":
      return (
        <TextArea
          label={label}
          name={key}
          value={value === undefined ? "" : JSON.stringify(value, null, 2)}
          hint={HINTS[name]}
          required={required}
          rows={5}
          code
          check={(text) => text.trim() === "" ? undefined : problemOfList(text)}
        />
      );
  }
  return (
    <TextField
      label={label}
      name={key}
      type={name === "url" || name === "api_url" ? "url" : "text"}
      value={Array.isArray(value) ? value.join(", ") : value as string | undefined}
      hint={HINTS[name] ?? (isSecret ? secretHint(value !== undefined) : undefined)}
      required={required}
      autocomplete="off"
    />
  );
}

const secretHint = (isStored: boolean): string =>
  `Stored encrypted${isStored ? "; ******** keeps the stored value" : ""}`;

/** The config in a form's values. Fields without text are left out. */
export function configOf({ config }: IntegrationAdapter, values: FormValues): Config {
  const names = [...config.required, ...config.optional];
  return Object.fromEntries(names.flatMap((name) => {
    const text: string = values[keyOf(name)] ?? "";
    if (text.trim() === "") return [];
    return [[name, parse(name, text)]];
  }));
}

function parse(name: string, text: string): unknown {
  switch (name) {
    case "headers":
      return headersOf(text);
    case "queries":
    case "fieldMappings":
      return JSON.parse(text);
    case "serviceIds":
      return listOf(text) ?? [];
  }
  return text;
}

function problemOfList(text: string): string | undefined {
  try {
    return Array.isArray(JSON.parse(text)) ? undefined : "Must be a JSON list";
  } catch (error) {
    return `Must be a JSON list: ${(error as Error).message}`;
  }
}

/** E.g. `Bearer token` for `bearerToken`. */
const labelOf = (name: string): string =>
  capital(name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replaceAll("_", " "));
