/**
 * Validates a request against its endpoint's contract. The error lists the problems of all parts.
 *
 * @module
 */

import { zValidator } from "@hono/zod-validator";
import type { Context } from "hono";
import type * as z from "zod";
import { InputError, type InputIssue, ISSUES_MAX } from "../../services/errors.ts";
import { inputIssues } from "../../services/input/check.ts";
import { inputMessage, unknownMessage } from "../../services/input/messages.ts";
import type { Endpoint } from "../contract/endpoint.ts";
import { bodyCheck } from "./body.ts";
import { assertFewParameters } from "./body_content.ts";
import { assertNotRepeated, fieldNames } from "./fields.ts";
import type { Env, PartCheck } from "./request_context.ts";
import { checkUpload } from "./upload.ts";
import { assertUsableText } from "./usable_text.ts";

/**
 * Creates the function that reads and checks the parts of a request.
 *
 * @param group All endpoints of the edition.
 */
export function inputCheck(endpoint: Endpoint, group: readonly Endpoint[]): PartCheck {
  const { params, query, upload, method, forwards } = endpoint;
  const checks = [
    ...(params ? [partCheck("param", "path", params)] : []),
    ...(forwards ? [] : [nameCheck(endpoint)]),
    ...(query ? [partCheck("query", "query", query)] : []),
    ...(method !== "get" && !upload && !forwards ? [bodyCheck(endpoint, group)] : []),
  ];

  return async function checkInput(c) {
    assertFewParameters(c.req.raw.url);
    if (upload) checkUpload(c.req.raw, upload);
    const issues: InputIssue[] = [];
    for (const check of checks) {
      try {
        await check(c);
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        issues.push(...error.issues);
      }
    }
    if (issues.length > 0) throw new InputError(issues);
  };
}

/** @param where Prefix for the paths of the issues. */
function partCheck(target: "param" | "query", where: string, shape: z.ZodType): PartCheck {
  const validate = zValidator(target, shape, (result) => {
    if (!result.success) throw new InputError(inputIssues(result.error, where));
    assertUsableText(result.data as object, where);
  }, { validationFunction: (shape, value) => shape.safeParse(value, { error: inputMessage }) });
  return (c) => validate(c as Context, () => Promise.resolve());
}

/** Checks the names of query parameters, some of which Hono's object of values hides (`__proto__`). */
function nameCheck(
  { query, body, acceptsTicket, ignoresUnknown, repeatable }: Endpoint,
): PartCheck {
  const known = fieldNames(query);
  const accepted = acceptsTicket ? [...known, "ticket"] : known;
  const bodyNames = fieldNames(body);

  return function checkNames({ req: { raw: { url } } }: Context<Env>) {
    const start = url.indexOf("?");
    if (start < 0) return;
    const given = new URLSearchParams(url.slice(start));
    assertNotRepeated(given, "query", repeatable);
    if (ignoresUnknown) return;
    const unknown = [...new Set(given.keys())].filter((name) => !accepted.includes(name));
    if (unknown.length > 0) throw new InputError(unknown.slice(0, ISSUES_MAX).map(issueOf));
  };

  function issueOf(name: string): InputIssue {
    const message = bodyNames.includes(name)
      ? `unknown query parameter; ${name} is a field of the body`
      : unknownMessage(name, known, "query parameter");
    return { path: `query.${name.slice(0, 100)}`, message };
  }
}
