/** Checks of parsed JSON whose author may be hostile. @module */

import { type Id, isId } from "./id.ts";
import { damaged } from "./repository_error.ts";

/** Fields of an object of foreign JSON. */
export type Fields = Record<string, unknown>;

/** Reads values of foreign JSON; each throws `damaged` with the title and the field's name. */
export interface Shape {
  object(value: unknown, field: string): Fields;
  array(value: unknown, field: string): unknown[];
  text(value: unknown, field: string): string;
  id(value: unknown, field: string): Id;
  /** An integer from 0 to `max`; an absent one is 0. */
  count(value: unknown, field: string, max?: number): number;
  bytes(value: unknown, field: string): Uint8Array<ArrayBuffer>;
}

/** @param title Names the object in messages. */
export function shapeOf(title: string): Shape {
  const fail = (field: string, expected: string) => damaged(title, `${field} is not ${expected}`);
  return {
    object(value, field) {
      if (typeof value !== "object" || value === null || Array.isArray(value)) {
        throw fail(field, "an object");
      }
      return value as Fields;
    },
    array(value, field) {
      if (!Array.isArray(value)) throw fail(field, "a list");
      return value;
    },
    text(value, field) {
      if (typeof value !== "string") throw fail(field, "a text");
      return value;
    },
    id(value, field) {
      if (!isId(value)) throw fail(field, "an ID of 64 hexadecimal digits");
      return value;
    },
    count(value = 0, field, max = Number.MAX_SAFE_INTEGER) {
      if (!Number.isSafeInteger(value) || (value as number) < 0 || (value as number) > max) {
        throw fail(field, `a number from 0 to ${max}`);
      }
      return value as number;
    },
    bytes(value, field) {
      try {
        return Uint8Array.fromBase64(value as string);
      } catch {
        throw fail(field, "base64");
      }
    },
  };
}
