/**
 * Serves endpoints with Hono. The order of refusals is the contract's: token (401), edition (402),
 * role (403), input (400, 413, 415), and only then the handler, which may find nothing (404).
 * Before all of them comes the address (403), where an allowlist is enforced.
 *
 * @module
 */

import { zValidator } from "@hono/zod-validator";
import type { Context, Hono, MiddlewareHandler } from "hono";
import { bodyLimit } from "hono/body-limit";
import type * as z from "zod";
import { type Caller, includesRole, type Role } from "../services/caller.ts";
import { type Edition, includesEdition } from "../services/edition.ts";
import { AppError, LimitError } from "../services/errors.ts";
import type { CurrentGuard, Guard, Observation } from "../services/guard.ts";
import type { EditionRoutes } from "./editions.ts";
import type { Endpoint, Note, RawAnswer } from "./endpoint.ts";
import { type AppEnv, respond, respondJson } from "./exchange.ts";
import { answerCache, jsonHeaders, revalidated } from "./answer_cache.ts";

/**
 * Finds the caller of a request by its token, by its ticket where the endpoint takes one, or by
 * the scraper's own token (`metrics`).
 *
 * @returns `undefined` for a request that brings neither.
 * @throws {AppError} `unauthorized` for a token that is not valid (any more).
 */
export type Identify = (
  request: Request,
  options: { address: string; ticket: string | undefined; metrics?: boolean | undefined },
) => Caller | undefined | Promise<Caller | undefined>;

/** Writes down that somebody changed something, or tried to. */
export type Audit = (record: {
  caller: Caller;
  action: string;
  target: string;
  outcome: "success" | "failure" | "denied";
}) => void;

/** What `mount` needs to know besides the endpoints. */
export interface Gatekeeper {
  license: { readonly edition: Edition };
  identify: Identify;
  audit: Audit;
  guard: CurrentGuard;
}

/** Largest request body, in bytes. */
const BODY_BYTES_MAX = 1024 * 1024;

/**
 * The same from somebody who may be anybody: enough for a login, and too little to keep the
 * service busy with (a megabyte of nested brackets takes it a tenth of a second).
 */
const PUBLIC_BODY_BYTES_MAX = 64 * 1024;

type Variables = { caller: Caller; guard: Guard; note: Note };
type Env = AppEnv & { Variables: Variables };

/** Adds an edition's endpoints. */
export function mount(
  app: Hono<AppEnv>,
  { edition, prefix, endpoints }: EditionRoutes,
  gatekeeper: Gatekeeper,
): void {
  for (const endpoint of endpoints) {
    // A group's root is served without a trailing slash.
    const route = (prefix + endpoint.path).replace(/(.)\/$/, "$1");
    (app as unknown as Hono<Env>).on(
      endpoint.method.toUpperCase(),
      [route],
      accounted(endpoint, route, gatekeeper),
      gate(endpoint, route, edition, gatekeeper),
      ...validators(endpoint),
      handler(endpoint),
    );
  }
}

/**
 * Writes down what a request came to: a write in the audit log, everything in the guard's. What
 * nobody is known to have tried is left out, and so are refusals for trying too often: a stranger
 * must not fill the disk.
 */
function accounted(
  endpoint: Endpoint,
  route: string,
  { audit, guard }: Gatekeeper,
): MiddlewareHandler<Env> {
  const method = endpoint.method.toUpperCase();
  const isAudited = method !== "GET" && !endpoint.unaudited;
  const action = `${method} ${route}`;

  return async function accounted(c, next) {
    c.env.route = route;
    const current = guard();
    const guarding = current instanceof Promise ? await current : current;
    if (guarding) c.set("guard", guarding);
    c.set("note", {});
    await next();
    if (!isAudited && !guarding) return;

    const caller = c.get("caller") as Caller | undefined;
    const { status } = c.res;
    // Wrong keys and passwords are throttled, a stranger's malformed requests are not.
    const isTry = status < 400 || status === 401 || status === 403;
    if (status === 429 || caller?.role === "public" && !isTry) return;
    const { actor, target = targetOf(c) } = c.get("note");
    const outcome = outcomeOf(status);
    if (isAudited && caller) {
      const userId = actor ?? caller.userId;
      audit({ caller: { ...caller, userId }, action, target, outcome });
    }
    if (endpoint.unrecorded && outcome !== "denied") return;
    await guarding?.record({
      caller,
      address: c.env.address,
      requestId: c.env.requestId,
      method,
      path: route,
      permission: endpoint.permission,
      target,
      status,
      outcome,
      actor,
    });
  };
}

function outcomeOf(status: number): Observation["outcome"] {
  if (status === 401 || status === 402 || status === 403) return "denied";
  return status < 400 ? "success" : "failure";
}

/** What a write is about: the path's parameters, else the name in its body. */
function targetOf(c: Context<Env>): string {
  const params = Object.values(c.req.param() as Record<string, string>);
  if (params.length) return params.join(" ");
  const { name, email } = (validated(c, "json") ?? {}) as { name?: unknown; email?: unknown };
  return [name, email].find((value) => typeof value === "string") as string ?? "";
}

/** Refuses who may not call. */
function gate(
  endpoint: Endpoint,
  route: string,
  edition: Edition,
  { license, identify }: Gatekeeper,
): MiddlewareHandler<Env> {
  const label = featureLabel(endpoint);
  const metrics = endpoint.acceptsMetricsToken;
  return async function gate(c, next) {
    const { address } = c.env;
    const guard = c.get("guard") as Guard | undefined;
    if (!endpoint.anyAddress) guard?.admit(address);
    const ticket = endpoint.acceptsTicket ? c.req.query("ticket") : undefined;
    const found = identify(c.req.raw, { address, ticket, metrics });
    const caller = endpoint.role === "public"
      ? await anonymousUnless(found, address)
      : found instanceof Promise
      ? await found
      : found;

    if (!caller) throw new AppError("unauthorized", "A bearer token is required");
    c.set("caller", caller);
    if (!endpoint.anyAddress && caller.role !== "public") guard?.admit(address, caller);
    if (!includesEdition(license.edition, edition)) {
      if (endpoint.hiddenUnlicensed) throw new AppError("not_found", `No such path: ${c.req.path}`);
      throw new LimitError(label, 0, 0);
    }
    if (!includesRole(caller.role, endpoint.role) && !isGranted(guard, caller, endpoint)) {
      throw roleMissing(endpoint.role);
    }
    await next();
  };
}

const isGranted = (guard: Guard | undefined, { userId }: Caller, { permission }: Endpoint) =>
  guard !== undefined && permission !== undefined && guard.grants(userId, permission);

/** On a public endpoint a token that is not valid is as good as none. */
async function anonymousUnless(
  found: ReturnType<Identify>,
  address: string,
): Promise<Caller> {
  const anonymous: Caller = { userId: "", role: "public", familyId: "", address };
  try {
    return await found ?? anonymous;
  } catch {
    return anonymous;
  }
}

const roleMissing = (role: Role) =>
  new AppError("forbidden", `The role ${role} is required for this`);

/** The feature that a 402 names: the first word of the path under the edition's prefix. */
function featureLabel({ path }: Endpoint): string {
  return path.split("/").filter((part) => part && !part.startsWith(":"))[0]
    ?.replaceAll("-", " ") ?? "this feature";
}

function validators(endpoint: Endpoint): MiddlewareHandler<Env>[] {
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
    throw new AppError("invalid", `${field}: ${issue?.message ?? "not valid"}`);
  };
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/** What a validator made of a part of the request; nothing where there was none to. */
function validated(c: Context<Env>, part: "param" | "query" | "json" | "form"): unknown {
  return (c.req as unknown as { valid(part: string): unknown }).valid(part);
}

function handler(endpoint: Endpoint) {
  const cache = answerCache(endpoint.version);
  const status = endpoint.status ?? 200;

  return async (c: Context<Env>): Promise<Response> => {
    const exchange = c.env;
    const request = c.req.raw;
    const kept = cache.find(request);
    if (kept) return revalidated(exchange, request, kept);

    const version = cache.version();
    const answer = await endpoint.handle({
      params: endpoint.params && validated(c, "param"),
      query: endpoint.query && validated(c, "query"),
      body: endpoint.form ? validated(c, "form") : endpoint.body && validated(c, "json"),
      caller: c.get("caller"),
      request,
      note: c.get("note"),
    });
    if (endpoint.produces !== undefined) {
      const { status, headers, body } = answer as RawAnswer;
      const plain = headers instanceof Headers ? Object.fromEntries(headers) : headers;
      return respond(exchange, status, body, plain);
    }
    const text = JSON.stringify(endpoint.returns.parse(answer));
    if (!endpoint.etag) return respond(exchange, status, text, jsonHeaders);
    return revalidated(exchange, request, cache.keep(request, version, text));
  };
}
