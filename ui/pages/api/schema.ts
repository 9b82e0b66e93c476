/** Schemas as text: types, notes on them, and example values. @module */

import type { Resolve, Schema } from "./document.ts";

/** A line of a type, e.g. `name: string`, with a note. */
export interface SchemaLine {
  text: string;
  note?: string;
}

/** Limit of levels that are shown. */
const DEPTH_MAX = 8;

/** Writes schemas, which may refer to others. */
export function schemaWriter(resolve: Resolve) {
  /** Whether a schema needs several lines: it is or contains an object with fields. */
  function isDeep(schema: Schema): boolean {
    const { properties, additionalProperties, items, anyOf, oneOf } = resolve(schema);
    return hasFields(properties) || hasFields(additionalProperties) ||
      (items !== undefined && isDeep(items)) || (anyOf ?? oneOf ?? []).some(isDeep);
  }

  /** The type in one line, e.g. `"start" | "stop"` or `string[]`. */
  function typeName(schema: Schema): string {
    const { type, enum: values, const: value, anyOf, oneOf, allOf, items } = resolve(schema);
    if (value !== undefined) return JSON.stringify(value);
    if (values) return values.map((each) => JSON.stringify(each)).join(" | ");
    const options = anyOf ?? oneOf;
    if (options) return options.map(typeName).join(" | ");
    if (allOf) return allOf.map(typeName).join(" & ");
    if (Array.isArray(type)) return type.join(" | ");
    if (type !== "array") return type ?? "any";
    const item = typeName(items ?? {});
    return item.includes(" ") ? `(${item})[]` : `${item}[]`;
  }

  /** The lines of a TypeScript type. `before` and `after` stand around it. */
  function lines(
    schema: Schema,
    { indent = "", before = "", after = "", depth = 0 } = {},
  ): SchemaLine[] {
    const target = resolve(schema);
    const note = noteOf(target);
    const { items, anyOf, oneOf } = target;
    if (depth >= DEPTH_MAX || !isDeep(target)) {
      return [{ text: `${before}${typeName(target)}${after}`, note }];
    }
    const inner = { indent, before, after, depth: depth + 1 };
    if (items) {
      const [first, ...rest] = lines(items, {
        ...inner,
        before: `${before}Array<`,
        after: `>${after}`,
      });
      return [{ text: first!.text, note: joined([note, first!.note]) }, ...rest];
    }
    const options = anyOf ?? oneOf;
    return options
      ? options.flatMap((option, at) =>
        lines(option, {
          ...inner,
          before: at === 0 ? before : `${indent}| `,
          after: at === options.length - 1 ? after : "",
        })
      )
      : [
        { text: `${before}{`, note },
        ...fieldLines(target, `${indent}  `, depth + 1),
        { text: `${indent}}${after}` },
      ];
  }

  function fieldLines(
    { properties = {}, additionalProperties, required = [] }: Schema,
    indent: string,
    depth: number,
  ): SchemaLine[] {
    const fields: [name: string, schema: Schema][] = Object.entries(properties).map(
      ([name, schema]) => [required.includes(name) ? name : `${name}?`, schema],
    );
    if (hasFields(additionalProperties)) fields.push(["[name: string]", additionalProperties]);
    return fields.flatMap(([name, schema]) =>
      lines(schema, { indent, before: `${indent}${name}: `, depth })
    );
  }

  /** A value that fits the schema, with its required fields. */
  function exampleOf(schema: Schema, depth = 0): unknown {
    const { type, properties = {}, items, minItems = 0, anyOf, oneOf, required = [], ...target } =
      resolve(schema);
    const given = target.example ?? target.examples?.[0] ?? target.default ?? target.const ??
      target.enum?.[0];
    if (given !== undefined) return given;
    const options = anyOf ?? oneOf;
    if (options) return exampleOf(options.find((each) => each.type !== "null") ?? {}, depth);
    if (depth >= DEPTH_MAX) return null;
    switch (Array.isArray(type) ? type[0] : type) {
      case "object":
        return Object.fromEntries(
          Object.entries(properties).filter(([name]) => required.includes(name))
            .map(([name, property]) => [name, exampleOf(property, depth + 1)]),
        );
      case "array":
        return minItems > 0 ? [exampleOf(items ?? {}, depth + 1)] : [];
      case "integer":
      case "number":
        return Math.max(0, target.minimum ?? 0);
      case "boolean":
        return false;
      case "string":
        return TEXTS[target.format ?? ""] ?? "";
      default:
        return null;
    }
  }

  return { typeName, lines, exampleOf, noteOf: (schema: Schema) => noteOf(resolve(schema)) };
}

export type SchemaWriter = ReturnType<typeof schemaWriter>;

/** Examples by format. */
const TEXTS: Record<string, string> = {
  "date-time": "2026-01-01T00:00:00Z",
  date: "2026-01-01",
  uri: "https://",
};

const hasFields = (part: object | boolean | undefined): part is object =>
  typeof part === "object" && Object.keys(part).length > 0;

/** Everything about a schema besides its type: description, format, bounds, default. */
function noteOf(schema: Schema): string {
  const { description, format, pattern, exclusiveMinimum, exclusiveMaximum } = schema;
  return joined([
    description,
    format,
    range(schema.minimum ?? exclusiveMinimum, schema.maximum ?? exclusiveMaximum),
    range(schema.minLength, schema.maxLength, " characters"),
    range(schema.minItems, schema.maxItems, " items"),
    exclusiveMinimum !== undefined && `not ${exclusiveMinimum} itself`,
    exclusiveMaximum !== undefined && `not ${exclusiveMaximum} itself`,
    // The format implies its pattern.
    pattern !== undefined && format === undefined && `pattern ${pattern}`,
    schema.default !== undefined && `default ${JSON.stringify(schema.default)}`,
  ]);
}

const joined = (parts: readonly (string | false | undefined)[]): string =>
  parts.filter(Boolean).join("; ");

/** Bounds as text, without those of the number type itself. */
function range(min: number | undefined, max: number | undefined, unit = ""): string | undefined {
  const isBound = (value: number | undefined) =>
    value !== undefined && Math.abs(value) < Number.MAX_SAFE_INTEGER;
  if (isBound(min) && isBound(max)) return `${min} to ${max}${unit}`;
  if (isBound(min)) return `at least ${min}${unit}`;
  return isBound(max) ? `at most ${max}${unit}` : undefined;
}
