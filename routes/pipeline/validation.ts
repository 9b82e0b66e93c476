/**
 * Validates a request against its endpoint's contract, within size limits. The error lists all
 * problems at once.
 *
 * @module
 */

import type { Context } from "hono";
import * as z from "zod";
import { AppError, InputError, type InputIssue, ISSUES_MAX } from "../../services/errors.ts";
import { checkFields, checkShape, type FieldRules } from "../../services/input/check.ts";
import { acceptedFields } from "../contract/accepted_fields.ts";
import { assertFewParameters, parseForm, parseJson } from "./body_content.ts";
import { pacedReader, streamReader } from "./body_pace.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import type { Env } from "./request_context.ts";
import { checkUpload } from "./upload.ts";

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

/** A validated part of a request, or its problems. */
interface Part {
  data?: unknown;
  issues?: readonly InputIssue[];
}

const NO_FIELDS = z.object({});

/**
 * Creates the function that reads and checks the parts of a request.
 *
 * @param group All endpoints of the edition.
 */
export function inputCheck(
  endpoint: Endpoint,
  group: readonly Endpoint[],
): (c: Context<Env>) => Promise<void> {
  const { params, form, upload, ignoresUnknown } = endpoint;
  const takesBody = Boolean(form ?? endpoint.body);
  const bytesMax = endpoint.bodyBytesMax ??
    (endpoint.role === "public" ? PUBLIC_BODY_BYTES_MAX : BODY_BYTES_MAX);
  const query = endpoint.query ?? NO_FIELDS;
  const body = form ?? endpoint.body ?? NO_FIELDS;
  const queryNames = namesOf(query);
  const bodyNames = namesOf(body);
  const queryRules: FieldRules = {
    accepted: endpoint.acceptsTicket ? ["ticket"] : [],
    what: "query parameter",
    hint: (name) =>
      bodyNames.includes(name)
        ? `unknown query parameter; ${name} is a field of the body`
        : undefined,
  };
  const bodyRules: FieldRules = {
    accepted: acceptedFields(endpoint, group),
    hint: (name) =>
      queryNames.includes(name) ? `unknown field; ${name} is a query parameter` : undefined,
  };

  return async function checkInput(c) {
    assertFewParameters(c.req.raw.url);
    if (upload) checkUpload(c.req.raw, upload);
    const param = params && checked(params, c.req.param(), "path");
    const query = readQuery(c.req.raw.url);
    const body = endpoint.method !== "get" && !upload ? await readBody(c) : undefined;
    accept(c, { param, query, body });
  };

  function accept(c: Context<Env>, parts: Record<string, Part | undefined>): void {
    const issues = Object.values(parts).flatMap((part) => part?.issues ?? []);
    if (issues.length > 0) throw new InputError(issues);
    for (const [name, part] of Object.entries(parts)) {
      if (part) c.req.addValidatedData(name as "param", part.data as object);
    }
  }

  function readQuery(url: string): Part | undefined {
    const start = url.indexOf("?");
    if (start < 0 && !endpoint.query) return undefined;
    const given = new URLSearchParams(start < 0 ? "" : url.slice(start));
    const { repeatable = [] } = endpoint;
    const repeated = repetitions(given, "query", repeatable);
    if (repeated.length > 0) return { issues: repeated };
    const values: Record<string, string | string[]> = Object.fromEntries(given);
    for (const name of repeatable) if (given.has(name)) values[name] = given.getAll(name);
    return checked(query, values, "query", queryRules);
  }

  async function readBody(c: Context<Env>): Promise<Part | undefined> {
    const text = await textOf(c.req.raw, bytesMax);
    // Many clients send a content type even without a body.
    if (text.trim() === "") return takesBody ? absentBody() : undefined;
    if (!takesBody && ignoresUnknown) return undefined;

    assertType(c, form ? FORM_TYPE : JSON_TYPE);
    if (!form) {
      const json = parseJson(text);
      endpoint.assertLicensed?.(Object(json), c.req.param());
      return checked(body, json, "body", bodyRules);
    }
    const given = parseForm(text);
    const repeated = repetitions(given, "body");
    if (repeated.length > 0) return { issues: repeated };
    return checked(body, Object.fromEntries(given), "body", bodyRules);
  }

  function absentBody(): Part {
    const read = checkShape(body, {}, "body");
    return "data" in read ? read : { issues: [{ path: "body", message: "is required" }] };
  }

  function checked(shape: z.ZodType, input: unknown, where: string, rules?: FieldRules): Part {
    const unknown = ignoresUnknown ? [] : checkFields(shape, input, where, rules);
    const read = checkShape(shape, input, where);
    if (!("data" in read)) return { issues: [...unknown, ...read.issues] };
    const unusable = checkText(read.data as object, where);
    return { data: read.data, issues: [...unknown, ...unusable] };
  }
}

const namesOf = (shape: z.ZodType) => shape instanceof z.ZodObject ? Object.keys(shape.shape) : [];

/** Refuses repeated fields, of which different programs would use different ones. */
function repetitions(
  given: URLSearchParams,
  where: string,
  repeatable: readonly string[] = [],
): InputIssue[] {
  return [...new Set(given.keys())].slice(0, ISSUES_MAX).flatMap((name) => {
    if (repeatable.includes(name)) return [];
    const { length } = given.getAll(name);
    const path = `${where}.${name.slice(0, 100)}`;
    return length > 1 ? [{ path, message: `given ${length} times, expected once` }] : [];
  });
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
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  for (let chunk = await reader.read(); chunk; chunk = await reader.read()) {
    size += chunk.length;
    // Not every request has a Content-Length.
    if (size > bytesMax) {
      void reader.cancel().catch(() => {});
      throw tooLarge;
    }
    chunks.push(chunk);
  }
  return await new Blob(chunks).text();
}

const UNUSABLE_TEXT = "contains a NUL character or a lone surrogate";

/**
 * Refuses text that the database would not return unchanged: SQLite ends text at its first NUL, and
 * UTF-8 has no lone surrogates. Reports the outermost field.
 */
function checkText(data: object, where: string): InputIssue[] {
  const issues: InputIssue[] = [];
  for (const [field, value] of Object.entries(data)) {
    if (hasUnusableText(value)) issues.push({ path: `${where}.${field}`, message: UNUSABLE_TEXT });
  }
  return issues;
}

/** Without recursion, because free-form values can be nested very deeply. */
function hasUnusableText(value: unknown): boolean {
  const open: unknown[] = [value];
  while (open.length > 0) {
    const next = open.pop();
    if (typeof next === "string" && !isUsableText(next)) return true;
    if (typeof next !== "object" || next === null) continue;
    for (const [key, inner] of Object.entries(next)) open.push(key, inner);
  }
  return false;
}

const isUsableText = (text: string) => !text.includes("\0") && text.isWellFormed();
