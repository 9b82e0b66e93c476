/**
 * How an adapter asks its system, and reads the answer.
 *
 * @module
 */

import type * as z from "zod";

/** One request of an adapter. Secrets go into headers or the body, never into the address. */
export interface AdapterRequest {
  url: URL;
  method?: "GET" | "POST";
  headers?: Record<string, string>;
  body?: string;
}

/** What a system answered, whatever the status. */
export interface AdapterAnswer {
  status: number;
  /** The body, which was read whole. */
  text(): string;
}

/** What an adapter gets to work with. */
export interface AdapterContext {
  now: Date;
  /** Happenings from then on are asked for; those that are already known do no harm. */
  since: Date;
  /** Sends a request under the outbound guard, with limits on time and size; no redirects. */
  ask(request: AdapterRequest): Promise<AdapterAnswer>;
}

/** A system that did not answer as it should. The message is a sentence without foreign text. */
export class AdapterError extends Error {
  override readonly name = "AdapterError";
}

/** A path under an address that may itself have a path, with a query. */
export function under(
  base: string,
  path: string,
  query: Record<string, string | number> | URLSearchParams = {},
): URL {
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/+$/, "") + path;
  url.search = (query instanceof URLSearchParams ? query : new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)]),
  )).toString();
  url.hash = "";
  return url;
}

/**
 * Asks for JSON of a certain shape.
 *
 * @throws {AdapterError} For another status than 2xx, for what is no JSON, and for another shape.
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

/** @throws {AdapterError} For another status than 2xx. */
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

/** @throws {AdapterError} For what is no JSON. */
export function readJson(answer: AdapterAnswer): unknown {
  try {
    return JSON.parse(answer.text());
  } catch {
    throw new AdapterError("The system's answer is not JSON; check the address");
  }
}

/** @throws {AdapterError} Names the first part that does not fit, without its value. */
export function fitting<Shape extends z.ZodType>(value: unknown, shape: Shape): z.output<Shape> {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  // Names of fields that are not in the shape come from outside, hence the numbers and words only.
  const path = (parsed.error.issues[0]?.path ?? []).map(String)
    .map((part) => /^\w{1,40}$/.test(part) ? part : "?").join(".");
  throw new AdapterError(
    `The system's answer is not as expected${path ? ` at ${path}` : ""}; check the address`,
  );
}
