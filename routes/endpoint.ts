/**
 * An endpoint is a value: its contract (path, role, shapes) and its handler.
 *
 * The contract is the single source of truth: `routes/mount.ts` validates requests and responses
 * with it, and `routes/openapi/` documents it.
 *
 * @module
 */

import type * as z from "zod";
import type { Caller, Role } from "../services/auth/caller.ts";

/** Everything about an endpoint except its handler. */
export interface Contract<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Returns extends z.ZodType = z.ZodType,
> {
  method: "get" | "post" | "put" | "delete";
  /** Relative to the edition's prefix, parameters as `:name`. */
  path: string;
  /** Name of the operation in generated clients, e.g. "listSchedules". Unique and stable. */
  operationId: string;
  /** For the API document: imperative, two to six words, e.g. "List schedules". */
  summary: string;
  /** What the summary does not say: side effects, order, limits, units. Markdown. */
  description?: string;
  /** The least role that may call; `public` needs no token. */
  role: Role;
  /** Resource and action that custom roles grant, e.g. `"containers:start"`. */
  permission?: `${string}:${string}`;
  /** Each of these suffices as well; the handler then checks the one that the request needs. */
  orPermissions?: readonly `${string}:${string}`[];
  /** Accepts `?ticket=` instead of a token: browsers cannot set headers on an event stream. */
  acceptsTicket?: true;
  /** Accepts only `METRICS_TOKEN` if that is set: a scraper cannot log in. */
  acceptsMetricsToken?: true;
  /** Answers 404 instead of 402 without its edition, because visitors of public pages see it. */
  hiddenUnlicensed?: true;
  /** Checks what a caller sends instead of a token; throws a refusal. Called before reading the body. */
  proof?: (request: Request) => void;
  /** Interrupts or removes something although it is not a DELETE; clients should ask first. */
  destructive?: true;
  /** A GET with an effect (a link in a mail). HEAD has none. */
  actsOnGet?: true;
  /** Exempt from the IP allowlist. */
  anyAddress?: true;
  /** Its success adds no compliance log entry, because the handler writes one itself. */
  unrecorded?: true;
  /** A write without an audit log entry, because it changes nothing permanent. */
  unaudited?: true;
  /** Refuses what the edition does not include (402), before the body is validated (400). */
  assertLicensed?: (body: Record<string, unknown>, params: Record<string, string>) => void;
  /**
   * Ignores unknown parameters and fields: other programs add their own to links (`utm_source`) and
   * forms (SAML bindings, 3.5.4; RFC 8058).
   */
  ignoresUnknown?: true;
  /** Request headers that it reads, by name, with their meaning; for the API document. */
  headers?: Record<string, string>;
  params?: Params;
  query?: Query;
  body?: Body;
  /** The body of a form (`application/x-www-form-urlencoded`) instead of JSON. */
  form?: Body;
  /** The response. Fields that are not declared here never leave the service. */
  returns: Returns;
  /** Status of a successful response; 200 unless given. */
  status?: 200 | 201 | 202 | 302;
  /** Failures with their meaning, for the API document; general ones need not be listed. */
  failures?: Record<number, string>;
  /** Further responses that are not failures of the usual form, by status. */
  replies?: Record<number, Reply>;
  /** Headers of a successful response, by name, with their meaning; for the API document. */
  replyHeaders?: Record<string, string>;
  /** Other media types of a successful response, which the client can choose. */
  alternatives?: Record<string, z.ZodType>;
  /**
   * The response has an `ETag`, and a request with that in `If-None-Match` gets 304. Raw endpoints
   * use `sendRepresentation()`.
   */
  etag?: true;
  /**
   * Version of the data behind the response, which is cached until the version changes; `undefined`
   * disables the cache. Only for responses that are the same for every caller.
   */
  version?: () => string | undefined;
}

/** A further response of an endpoint, for the API document. */
export interface Reply {
  description: string;
  /** The JSON body, if any. */
  returns?: z.ZodType;
  /** Other media types, which the client can choose. */
  alternatives?: Record<string, z.ZodType>;
  /** By name, with their meaning. */
  headers?: Record<string, string>;
}

/** The validated request. */
export interface Input<Params, Query, Body> {
  params: Params;
  query: Query;
  body: Body;
  caller: Caller;
  request: Request;
  note: Note;
  /**
   * Refuses a login from an address that is not admitted for the user. Endpoints that issue tokens
   * call it before they store anything.
   *
   * @throws {AppError} `forbidden`
   */
  admit: (userId: string) => void;
}

/** Details that a handler adds to the audit and compliance entries of its request. */
export interface Note {
  /** The id of the user who logged in. */
  actor?: string;
  /** Replaces the path's parameters as the target. */
  target?: string;
  /** Ids and names of all affected objects. */
  targets?: readonly string[];
  /** The command or the options of the action. */
  command?: string;
}

/** A contract and its handler, with the types of the shapes erased. */
export interface Endpoint extends Contract {
  handle(input: Input<unknown, unknown, unknown>): unknown;
  /** Media type of a response that is not JSON; the handler then returns a `RawResponse`. */
  produces?: string;
}

/** Joins a contract with its handler and checks that the two agree. */
export function endpoint<
  Params extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
  Returns extends z.ZodType = z.ZodUndefined,
>(
  contract: Contract<Params, Query, Body, Returns>,
  handle: (
    input: Input<z.output<Params>, z.output<Query>, z.output<Body>>,
  ) => z.input<Returns> | Promise<z.input<Returns>>,
): Endpoint {
  return { ...contract, handle: handle as Endpoint["handle"] };
}

/**
 * A response that is not JSON. Plain bytes are sent in half the time of a `Response`, whose body is
 * a stream.
 */
export type RawResponse = Response | {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer> | null;
};

/** An endpoint whose response is not JSON: an event stream, a page, a text export. */
export function rawEndpoint<
  Params extends z.ZodType = z.ZodUndefined,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
>(
  contract: Omit<Contract<Params, Query, Body>, "version"> & {
    produces: string;
  },
  handle: (
    input: Input<z.output<Params>, z.output<Query>, z.output<Body>>,
  ) => RawResponse | Promise<RawResponse>,
): Endpoint {
  return { ...contract, handle: handle as Endpoint["handle"] };
}
