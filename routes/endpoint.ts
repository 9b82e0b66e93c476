/**
 * An endpoint is a value: its contract (path, role, shapes) next to the function that answers it.
 *
 * The contract is the single source of truth. `routes/mount.ts` validates requests and responses
 * with it and `routes/openapi/` documents it; no endpoint exists that one of the two does not see.
 *
 * @module
 */

import type * as z from "zod";
import type { Caller, Role } from "../services/auth/caller.ts";

/** What a caller can know about an endpoint without reading its code. */
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
  /** Any of these lets in as well; the handler then asks for the one that the request needs. */
  orPermissions?: readonly `${string}:${string}`[];
  /** A browser cannot set headers on an event stream; it may bring `?ticket=` instead of a token. */
  acceptsTicket?: true;
  /** Where `METRICS_TOKEN` is set, that token and no other opens it: a scraper cannot log in. */
  acceptsMetricsToken?: true;
  /** Without its edition it is not there at all (404), as is right for a page that people see. */
  hiddenUnlicensed?: true;
  /**
   * What somebody without a token has to show instead. Asked before anything of the body is read;
   * throws what refuses them.
   */
  proof?: (request: Request) => void;
  /** Interrupts or removes something although it is not a DELETE; clients ask before they send it. */
  destructive?: true;
  /** Does something although it is a GET (a link in a mail); asking for its head does not. */
  actsOnGet?: true;
  /** Answers whatever address asks, also where an IP allowlist is enforced. */
  anyAddress?: true;
  /** Leaves no entry of its own in the compliance log when it succeeds: it is what writes one. */
  unrecorded?: true;
  /** Not worth an entry in the audit log, though it is a write: it changes nothing lasting. */
  unaudited?: true;
  /**
   * Decides by the unchecked body whether the edition has what is requested: that is 402 before the
   * input is 400. Throws the refusal.
   */
  assertLicensed?: (body: Record<string, unknown>, params: Record<string, string>) => void;
  /**
   * Parameters and fields that it does not know are ignored, not refused: other programs add their
   * own to its links (`utm_source`) or forms (SAML bindings, 3.5.4; RFC 8058).
   */
  ignoresUnknown?: true;
  /** Headers that it reads, by name, with their meaning; for the API document. */
  headers?: Record<string, string>;
  params?: Params;
  query?: Query;
  body?: Body;
  /** The body of a form (`application/x-www-form-urlencoded`) instead of JSON. */
  form?: Body;
  /** What is sent back. Fields not declared here never leave the service. */
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
   * The response has an `ETag`, and a request with that in `If-None-Match` gets 304. The handler of
   * a raw endpoint does this itself.
   */
  etag?: true;
  /**
   * Names the state that the answer is made of. While the name stays, an answer is serialised
   * once and sent again; `undefined` has it made afresh. Only for answers that are the same for
   * every caller.
   */
  version?: () => string | undefined;
}

/** A response of an endpoint besides the successful one, for the API document. */
export interface Reply {
  description: string;
  /** The JSON body; without it there is none. */
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
   * Refuses a user who logs in from an address that is not admitted for them. For endpoints that
   * issue tokens, before they store anything.
   *
   * @throws {AppError} `forbidden`
   */
  admit: (userId: string) => void;
}

/** What a handler adds to the audit and compliance entries of its request. */
export interface Note {
  /** The id of the user who logged in. */
  actor?: string;
  /** Replaces the path's parameters as the target. */
  target?: string;
  /** Ids and names of everything that the request was about. */
  targets?: readonly string[];
  /** The command or the options that say what was done. */
  command?: string;
}

/** A contract and its handler, with the types of the shapes erased. */
export interface Endpoint extends Contract {
  handle(input: Input<unknown, unknown, unknown>): unknown;
  /** Media type of an answer that is no JSON; the handler then returns a `RawAnswer`. */
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
 * An answer that is no JSON. One that is all there is better not wrapped in a `Response`, whose
 * body is a stream to whoever reads it: sending the bytes themselves takes half the time.
 */
export type RawAnswer = Response | {
  status: number;
  headers: Record<string, string>;
  body: Uint8Array<ArrayBuffer> | null;
};

/** An endpoint whose answer is no JSON: an event stream, a page, a text export. */
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
  ) => RawAnswer | Promise<RawAnswer>,
): Endpoint {
  return { ...contract, handle: handle as Endpoint["handle"] };
}
