/**
 * Messages of validation errors. Shapes have their own message only if they know more than the
 * validator.
 *
 * @module
 */

import * as z from "zod";
import { ISSUES_MAX } from "../errors.ts";
import { nearest } from "./nearest.ts";

type Issue = z.core.$ZodRawIssue;

/** The message without details; for a union, the issues of its options have them. */
export const NOT_VALID = "is not valid";

/** The validator's error map: one message for each kind of issue, without the field's name. */
export function inputMessage(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is required" : typeMessage(issue);
    case "too_small":
      return sizeMessage(issue, issue.minimum, "at least", "more than");
    case "too_big":
      return sizeMessage(issue, issue.maximum, "at most", "less than");
    case "not_multiple_of":
      return `must be a multiple of ${issue.divisor}`;
    case "invalid_value":
      return issue.input === undefined ? "is required" : oneOf(issue.values);
    case "invalid_format":
      return formatMessage(issue);
    case "invalid_union":
      return issue.discriminator === undefined ? NOT_VALID : oneOf(issue.options as unknown[]);
    case "unrecognized_keys":
      return unknownFieldMessages(issue);
    case "invalid_key":
      return "has a name that is not allowed";
    case "invalid_element":
      return "has an entry that is not allowed";
    case "custom":
      return NOT_VALID;
  }
}

/** E.g. `a number`, for the types that JSON and queries have. */
const TYPES: Record<string, string> = {
  array: "an array",
  boolean: "true or false",
  int: "a whole number",
  null: "null",
  number: "a number",
  object: "an object",
  record: "an object",
  string: "a string",
  tuple: "an array",
  undefined: "left out",
};

export const typeName = (expected: string) => TYPES[expected] ?? "of another type";

function typeMessage({ expected, input }: Issue & { expected: string }): string {
  const wanted = `must be ${typeName(expected)}`;
  return expected === "int" && typeof input === "number"
    ? wanted
    : `${wanted}, not ${nameOfType(input)}`;
}

/** Returns the type of a value, never the value, which may be a secret. */
function nameOfType(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  if (typeof value === "boolean") return "a boolean";
  if (typeof value === "number" && !Number.isFinite(value)) return "an infinite number";
  return TYPES[typeof value] ?? typeof value;
}

/** Units of sizes; numbers have none. */
const UNITS: Record<string, [one: string, many: string]> = {
  array: ["entry", "entries"],
  record: ["entry", "entries"],
  string: ["character", "characters"],
};

function sizeMessage(
  { origin, inclusive, exact }: Extract<Issue, { code: "too_small" | "too_big" }>,
  bound: number | bigint,
  orEqual: string,
  notEqual: string,
): string {
  const size = Number(bound);
  const limit = `${exact ? "exactly" : inclusive === false ? notEqual : orEqual} ${bound}`;
  const units = UNITS[origin];
  if (!units) return `must be ${limit}`;
  if (size === 1 && orEqual === "at least" && !exact) return "must not be empty";
  return `must have ${limit} ${size === 1 ? units[0] : units[1]}`;
}

/** The formats that shapes have; add one with its first use. */
const FORMATS: Record<string, string> = {
  date: "a date such as 2026-01-31",
  datetime: "an ISO 8601 time such as 2026-01-31T12:00:00Z",
  url: "a URL",
};

function formatMessage(issue: Extract<Issue, { code: "invalid_format" }>): string {
  switch (issue.format) {
    case "regex":
      return `must match ${issue.pattern}`;
    case "starts_with":
      return `must start with ${issue.prefix}`;
    case "ends_with":
      return `must end with ${issue.suffix}`;
    case "includes":
      return `must contain ${issue.includes}`;
    default:
      return `must be ${FORMATS[issue.format] ?? "in another format"}`;
  }
}

const oneOf = (values: readonly unknown[]) =>
  values.length === 1 ? `must be ${values[0]}` : `must be one of ${values.join(", ")}`;

/** A line for each of the fields, in their order. */
function unknownFieldMessages(
  { keys, inst }: Extract<Issue, { code: "unrecognized_keys" }>,
): string {
  const known = inst instanceof z.ZodObject ? Object.keys(inst.shape) : [];
  return keys.slice(0, ISSUES_MAX).map((name) => unknownMessage(name, known, "field")).join("\n");
}

/**
 * The message for an unknown field: the known ones, and the one that is probably meant.
 *
 * @param what E.g. `"query parameter"`.
 */
export function unknownMessage(name: string, known: readonly string[], what: string): string {
  if (known.length === 0) return `unknown ${what}; no ${what}s are accepted here`;
  const close = nearest(name, known);
  const list = `nown ${what}s: ${known.join(", ")}`;
  return close === undefined
    ? `unknown ${what}; k${list}`
    : `unknown ${what}; did you mean ${close}? K${list}`;
}
