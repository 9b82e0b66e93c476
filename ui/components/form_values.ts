/** The values and problems of a form's fields. The browser's own inputs hold them. @module */

import type { ApiError } from "../api/client.ts";

/**
 * Values by field name: text, a number of a number field (`undefined` if empty), a boolean of a
 * checkbox, and a list of the checked values where several have the same name.
 */
// deno-lint-ignore no-explicit-any
export type FormValues = Record<string, any>;

type Input = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;

export const inputsOf = (form: HTMLFormElement): Input[] =>
  [...form.elements].filter((each): each is Input => "name" in each && each.name !== "");

/** Problems that the browser finds, by field name. */
export function problemsOf(form: HTMLFormElement): Record<string, string> {
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
export function problemsByField(
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

/** A sentence of the service about fields, with their labels instead of their names. */
export function withLabels(message: string, form: HTMLFormElement): string {
  const inputs = inputsOf(form);
  return message.replace(/(?<![\w.])body\.([\w.]+)(?=: )/g, (_, path: string) => {
    // A form may have the fields of an inner object, e.g. of `config`.
    const field = inputs.find(({ name }) => path === name) ??
      inputs.find(({ name }) => path.startsWith(`${name}.`) || path.endsWith(`.${name}`));
    return field?.labels?.[0]?.textContent?.trim() || path;
  });
}

/** Whether it has a password, which may be shown. */
const isPassword = ({ type, autocomplete }: HTMLInputElement): boolean =>
  type === "password" || autocomplete.endsWith("-password");

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
      values[field.name] = isPassword(field) ? field.value : field.value.trim();
    }
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
