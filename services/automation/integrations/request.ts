/** Requests of adapters, and the parsing of responses. @module */

import type * as z from "zod";
import { trimEnd } from "../../text/trim_end.ts";

/** One request of an adapter. Secrets belong in headers or the body, never in the URL. */
interface AdapterRequest {
  url: URL;
  method?: "GET" | "POST";
  headers?: Record<string, string>;
  body?: string;
}

/** A response with any status. */
export interface AdapterAnswer {
  status: number;
  /** The whole body. */
  text(): string;
}

/** The context of a poll. */
export interface AdapterContext {
  now: Date;
  /** Fetch events since then; known events are ignored. */
  since: Date;
  /** Sends a request to a checked address, with limits on time and size, without redirects. */
  ask(request: AdapterRequest): Promise<AdapterAnswer>;
}

/** An unexpected response. The message is a sentence without content of the response. */
export class AdapterError extends Error {
  override readonly name = "AdapterError";
}

/** Appends a path and a query to a base URL, which may have a path. */
export function under(
  base: string,
  path: string,
  query: Record<string, string | number> | URLSearchParams = {},
): URL {
  const url = new URL(base);
  url.pathname = trimEnd(url.pathname, "/") + path;
  url.search = (query instanceof URLSearchParams ? query : new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)]),
  )).toString();
  url.hash = "";
  return url;
}

/**
 * Requests JSON and checks its shape.
 *
 * @throws {AdapterError} For a status other than 2xx, invalid JSON, or another shape.
 */
export async function askJson<Shape extends z.ZodType>(
  context: AdapterContext,
  request: AdapterRequest,
  shape: Shape,
): Promise<z.output<Shape>> {
  const answer = await context.ask({
    ...request,
    headers: { accept: "application/json", ...request.headers },
  });
  assertSuccess(answer);
  return fitting(readJson(answer), shape);
}

/** @throws {AdapterError} For a status other than 2xx. */
export function assertSuccess({ status }: AdapterAnswer): void {
  if (status >= 200 && status <= 299) return;
  const hint = HINTS[status] ?? (status >= 300 && status <= 399 ? HINTS.redirect : undefined);
  throw new AdapterError(`The system answered with status ${status}${hint ? ` (${hint})` : ""}`);
}

const HINTS: Record<string, string> = {
  400: "it refused the request",
  401: "check the credentials",
  403: "the credentials lack a permission",
  404: "check the address",
  429: "too many requests; poll less often",
  redirect: "redirects are not followed; enter the final address",
};

/** @throws {AdapterError} For invalid JSON. */
export function readJson(answer: AdapterAnswer): unknown {
  try {
    return JSON.parse(answer.text());
  } catch {
    throw new AdapterError("The system's answer is not JSON; check the address");
  }
}

/** @throws {AdapterError} With the path of the first mismatch, without its value. */
export function fitting<Shape extends z.ZodType>(value: unknown, shape: Shape): z.output<Shape> {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  // Names of unknown fields come from outside, so only plain words and numbers are shown.
  const path = (parsed.error.issues[0]?.path ?? []).map(String)
    .map((part) => /^\w{1,40}$/.test(part) ? part : "?").join(".");
  throw new AdapterError(
    `The system's answer is not as expected${path ? ` at ${path}` : ""}; check the address`,
  );
}
