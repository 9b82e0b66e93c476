/** Reads and validates the body of a request, within size limits. @module */

import type { Context } from "hono";
import * as z from "zod";
import { AppError, InputError } from "../../services/errors.ts";
import { checkShape, type Hint } from "../../services/input/check.ts";
import { acceptedFields } from "../contract/accepted_fields.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { parseForm, parseJson } from "./body_content.ts";
import { pacedReader, streamReader } from "./body_pace.ts";
import { assertNotRepeated, fieldNames } from "./fields.ts";
import { GrowingBytes } from "./growing_bytes.ts";
import type { Env, PartCheck } from "./request_context.ts";
import { assertUsableText } from "./usable_text.ts";

/** Largest request body, in bytes, unless the contract says otherwise. */
const BODY_BYTES_MAX = 1024 * 1024;

/**
 * Largest body on public endpoints, in bytes: enough for a login, and too little to keep the service
 * busy.
 */
const PUBLIC_BODY_BYTES_MAX = 64 * 1024;

/** Longest silence of a client within a body, in milliseconds. */
const IDLE_MS = 30_000;

const JSON_TYPE = "application/json";
const FORM_TYPE = "application/x-www-form-urlencoded";

const NO_FIELDS = z.object({});

/**
 * Creates the check of an endpoint's body. Hono's validators read a body of any size, and take one
 * without a type as empty.
 *
 * @param group All endpoints of the edition.
 */
export function bodyCheck(endpoint: Endpoint, group: readonly Endpoint[]): PartCheck {
  const { form, ignoresUnknown } = endpoint;
  const given = form ?? endpoint.body;
  const shape = strict(given ?? NO_FIELDS, endpoint);
  const bytesMax = endpoint.bodyBytesMax ??
    (endpoint.role === "public" ? PUBLIC_BODY_BYTES_MAX : BODY_BYTES_MAX);
  const known = fieldNames(given);
  const ignored = acceptedFields(endpoint, group).filter((name) => !known.includes(name));
  const queryNames = fieldNames(endpoint.query);
  const hint: Hint = (name) =>
    queryNames.includes(name) ? `unknown field; ${name} is a query parameter` : undefined;

  return async function checkBody(c) {
    const text = await textOf(c.req.raw, bytesMax);
    // Many clients send a content type even without a body.
    if (text.trim() === "") return given && store(c, absentBody());
    if (!given && ignoresUnknown) return;
    assertType(c, form ? FORM_TYPE : JSON_TYPE);
    store(
      c,
      checkShape(shape, without(ignored, form ? fieldsOf(text) : jsonOf(c, text)), "body", hint),
    );
  };

  function absentBody(): ReturnType<typeof checkShape> {
    const read = checkShape(shape, {}, "body");
    return "data" in read ? read : { issues: [{ path: "body", message: "is required" }] };
  }

  function jsonOf(c: Context<Env>, text: string): unknown {
    const json = parseJson(text);
    endpoint.assertLicensed?.(Object(json), c.req.param());
    return json;
  }
}

/** Refuses unknown fields, unless the endpoint ignores them. Nested objects are strict themselves. */
function strict(shape: z.ZodType, { ignoresUnknown }: Endpoint): z.ZodType {
  return shape instanceof z.ZodObject && !ignoresUnknown ? shape.strict() : shape;
}

function store(c: Context<Env>, read: ReturnType<typeof checkShape>): void {
  if (!("data" in read)) throw new InputError(read.issues);
  assertUsableText(read.data as object, "body");
  c.req.addValidatedData("body" as "json", read.data as object);
}

/** Removes fields that the endpoint accepts and ignores. */
function without(ignored: readonly string[], input: unknown): unknown {
  if (ignored.length === 0 || typeof input !== "object" || input === null) return input;
  if (Array.isArray(input)) return input;
  return Object.fromEntries(Object.entries(input).filter(([name]) => !ignored.includes(name)));
}

/** @throws {InputError} For a repeated field. */
function fieldsOf(text: string): Record<string, string> {
  const given = parseForm(text);
  assertNotRepeated(given, "body");
  return Object.fromEntries(given);
}

function assertType(c: Context<Env>, expected: string): void {
  const given = c.req.header("content-type");
  const type = given?.replace(/;.*/s, "").trim().toLowerCase();
  if (type === expected) return;
  const but = given === undefined ? "" : `, not ${given.slice(0, 100)}`;
  throw new AppError("unsupported_media_type", `Expected a body of type ${expected}${but}`);
}

/** @throws {AppError} `too_large`, or `invalid` for a body that is incomplete or arrives too slowly. */
async function textOf({ body, headers }: Request, bytesMax: number): Promise<string> {
  if (!body) return "";
  const tooLarge = new AppError("too_large", `The body is larger than ${bytesMax} bytes`);
  if (Number(headers.get("content-length")) > bytesMax) throw tooLarge;

  const reader = pacedReader(streamReader(body), { idleMaxMs: IDLE_MS, patienceMs: IDLE_MS });
  const read = new GrowingBytes();
  for (let piece = await reader.read(); piece; piece = await reader.read()) {
    // Not every request has a Content-Length.
    if (read.size + piece.length > bytesMax) {
      void reader.cancel().catch(() => {});
      throw tooLarge;
    }
    read.append(piece);
  }
  return new TextDecoder().decode(read.bytes());
}
