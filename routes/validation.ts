/**
 * Checks what a request brings against its endpoint's contract, within limits of size.
 *
 * @module
 */

import { zValidator } from "@hono/zod-validator";
import type { Context, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import type * as z from "zod";
import { AppError } from "../services/errors.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Env } from "./gatekeeper.ts";

/** Largest request body, in bytes. */
const BODY_BYTES_MAX = 1024 * 1024;

/**
 * The same from somebody who may be anybody: enough for a login, and too little to keep the
 * service busy with (a megabyte of nested brackets takes it a tenth of a second).
 */
const PUBLIC_BODY_BYTES_MAX = 64 * 1024;

/** In the order in which a request is checked. */
export function validators(endpoint: Endpoint): MiddlewareHandler<Env>[] {
  const list: MiddlewareHandler<Env>[] = [singleQueryValues];
  if (endpoint.params) {
    list.push(zValidator("param", endpoint.params as ObjectShape, refuse("path")));
  }
  if (endpoint.query) {
    list.push(zValidator("query", endpoint.query as ObjectShape, refuse("query")));
  }
  if (endpoint.body) {
    list.push(
      jsonOnly,
      limitedBody(endpoint.role === "public" ? PUBLIC_BODY_BYTES_MAX : BODY_BYTES_MAX),
      zValidator("json", endpoint.body as ObjectShape, refuse("body")),
    );
  }
  if (endpoint.form) {
    list.push(formOnly, limitedBody(BODY_BYTES_MAX), formValidator(endpoint.form));
  }
  return list;
}

type ObjectShape = z.ZodObject;

const singleQueryValues: MiddlewareHandler<Env> = function singleQueryValues(c, next) {
  if (c.req.raw.url.includes("?")) {
    for (const [name, values] of Object.entries(c.req.queries())) {
      if (values.length > 1) {
        throw new AppError("invalid", `query.${name}: given ${values.length} times, expected once`);
      }
    }
  }
  return next();
};

const jsonOnly: MiddlewareHandler<Env> = function jsonOnly(c, next) {
  const type = c.req.header("content-type");
  if (type !== undefined && !/^application\/json\s*(;|$)/i.test(type)) {
    throw new AppError(
      "unsupported_media_type",
      `Expected application/json, not ${type.slice(0, 100)}`,
    );
  }
  if (type === undefined && hasBody(c)) {
    throw new AppError("unsupported_media_type", "Expected a body of the type application/json");
  }
  return next();
};

const FORM_TYPE = "application/x-www-form-urlencoded";

const formOnly: MiddlewareHandler<Env> = function formOnly(c, next) {
  const type = c.req.header("content-type") ?? "";
  if (type.split(";", 1)[0]!.trim().toLowerCase() !== FORM_TYPE) {
    throw new AppError("unsupported_media_type", `Expected a body of the type ${FORM_TYPE}`);
  }
  return next();
};

/** A field that comes twice is refused: nobody shall read another one than we do. */
function formValidator(shape: z.ZodType): MiddlewareHandler<Env> {
  const complain = refuse("body");
  return async function formValidator(c, next) {
    const fields = new URLSearchParams(await c.req.text());
    for (const name of new Set(fields.keys())) {
      const { length } = fields.getAll(name);
      if (length > 1) {
        throw new AppError(
          "invalid",
          `body.${name.slice(0, 100)}: given ${length} times, expected once`,
        );
      }
    }
    const result = shape.safeParse(Object.fromEntries(fields));
    complain(result as Parameters<typeof complain>[0]);
    c.req.addValidatedData("form", result.data as object);
    await next();
  };
}

function hasBody(c: Context): boolean {
  return (c.req.header("content-length") ?? "0") !== "0" ||
    c.req.header("transfer-encoding") !== undefined;
}

function limitedBody(maxSize: number): MiddlewareHandler<Env> {
  const withinLimit = bodyLimit({
    maxSize,
    onError: () => {
      throw new AppError("too_large", `The body is larger than ${maxSize} bytes`);
    },
  }) as MiddlewareHandler<Env>;

  // A body without a length is read right here, as far as its client sends it.
  return async function limitedBody(c, next) {
    try {
      return await withinLimit(c, next);
    } catch (error) {
      if (error instanceof AppError) throw error;
      throw new AppError("invalid", "body: breaks off or is not well-formed", { cause: error });
    }
  };
}

const UNUSABLE_TEXT = "has a NUL character or half of a surrogate pair";

/**
 * Finds text that the database would not give back as it was: SQLite ends a text at its first NUL,
 * and UTF-8 has no half of a surrogate pair.
 *
 * @returns The name of the outermost field that has some.
 */
function unusableText(data: object): string | undefined {
  for (const [field, value] of Object.entries(data)) {
    // No recursion: what nobody looked into may be nested as deep as a body is long.
    const open: unknown[] = [value];
    while (open.length > 0) {
      const next = open.pop();
      if (typeof next === "string" && !isUsableText(next)) return field;
      if (typeof next !== "object" || next === null) continue;
      for (const [key, inner] of Object.entries(next)) open.push(key, inner);
    }
  }
  return undefined;
}

const isUsableText = (text: string) => !text.includes("\0") && text.isWellFormed();

/** The validator's words for a field that is not there. */
const MISSING = /^Invalid input: expected \w+, received undefined$/;

/** Makes the validator's complaint a sentence that names the first field that does not fit. */
function refuse(where: "path" | "query" | "body") {
  return (result: { success: boolean; data?: object; error?: { issues: readonly Issue[] } }) => {
    if (result.success) {
      const unusable = unusableText(result.data ?? {});
      if (unusable === undefined) return;
      throw new AppError("invalid", `${where}.${unusable}: ${UNUSABLE_TEXT}`);
    }
    const issue = result.error?.issues[0];
    const field = [where, ...(issue?.path ?? []).map(String)].join(".");
    const message = (issue?.message ?? "not valid").replace(MISSING, "is required");
    throw new AppError("invalid", `${field}: ${message}`);
  };
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}
