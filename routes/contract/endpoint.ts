/**
 * An endpoint is a value: its contract (path, role, shapes) and its handler.
 *
 * The contract is the single source of truth: `routes/pipeline/mount.ts` validates requests and responses
 * with it, and `routes/contract/openapi/` documents it.
 *
 * @module
 */

import * as z from "zod";
import type { Caller, Role } from "../../services/access/caller.ts";
import type { ScopedHost } from "../../services/access/scope.ts";
import { PathText } from "./shapes.ts";
import type { UploadLimits } from "../pipeline/upload.ts";

/** Method and path, relative to the edition's prefix, parameters as `:name`. */
export type Route = `${"GET" | "POST" | "PUT" | "DELETE"} /${string}`;

/** Everything about an endpoint except its route and its handler. */
export interface Contract<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType = z.ZodType,
  Returns extends z.ZodType = z.ZodType,
> {
  /** Name of the operation in generated clients, e.g. "listSchedules". Unique and stable. */
  operationId: string;
  /** For the API document: imperative, two to six words, e.g. "List schedules". */
  summary: string;
  /** Everything that the summary does not say: side effects, order, limits, units. Markdown. */
  description?: string;
  /** The least role that may call; `public` needs no token. */
  role: Role;
  /** Resource and action that custom roles grant, e.g. `"containers:start"`. */
  permission?: `${string}:${string}`;
  /** Each of these suffices as well; the handler then checks the one that the request needs. */
  orPermissions?: readonly `${string}:${string}`[];
  /**
   * Treatment of an API token that is limited to stacks, containers or hosts of the fleet, and of a
   * login whose custom roles are limited to hosts. Without it, such a caller gets 404. Others are not
   * affected.
   *
   * - `container`: the path parameter `id` is a container. It must be in the scope, else the response
   *   is that for an unknown container. The handler gets its full id.
   * - `stack`: the path parameter `name` is a stack, all of whose containers must be in the scope.
   * - `filtered`: the handler shows only containers in the scope; it reads them with
   *   `visibleTo(deps, caller)` (`services/containers/visible.ts`).
   * - `hosts`: it is about hosts of the fleet, of which the handler shows and changes only those that
   *   the caller sees (`visibleHosts()` in `services/fleet/hosts/visible.ts`). A token that is limited to
   *   stacks or containers of all hosts gets 404.
   * - `open`: it shows and changes nothing of containers. Without a permission, it is also open to
   *   tokens that are limited to permissions.
   */
  scope?: "container" | "stack" | "filtered" | "hosts" | "open";
  /** Whether it shows this server itself: callers that are limited to hosts of the fleet get 404. */
  showsServer?: true;
  /**
   * Refuses API tokens (403), because it manages accounts, their rights, or how users log in. A
   * token must not give itself more rights or a longer life.
   */
  loginOnly?: true;
  /**
   * Runs programs of the caller's choice in a container: a hub may use it for its users only with
   * `FLEET_TERMINAL=on`.
   */
  runsPrograms?: true;
  /** Open to logins that still have to set up a second factor (`MFA_REQUIRED`). */
  withoutFactor?: true;
  /**
   * Accepts `?ticket=` instead of a token: browsers cannot set headers on an event stream.
   * `"terminal"` is for the tickets of terminals.
   */
  acceptsTicket?: true | "terminal";
  /**
   * The response is a WebSocket (status 101). The handler records its start and end with
   * `Input.recordPhase`; the audit log has its refusals, too.
   */
  upgrades?: true;
  /** Accepts only `METRICS_TOKEN` if that is set: a scraper cannot log in. */
  acceptsMetricsToken?: true;
  /** Answers 404 instead of 402 without its edition, because visitors of public pages see it. */
  hiddenUnlicensed?: true;
  /**
   * Checks the headers of a browser's request; throws a refusal. Called before the caller is
   * identified, so that requests of other sites' pages are not recorded as the user's.
   */
  assertBrowser?: (request: Request) => void;
  /** Reads the session cookie, which no other endpoint does. */
  acceptsCookie?: true;
  /** Checks what a caller sends instead of a token; throws a refusal. Called before reading the body. */
  proof?: (request: Request) => void;
  /** Limits the requests of an address; throws a refusal. Called before reading the body. */
  throttle?: (address: string) => void;
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
  /**
   * Changes nothing, but has an audit log entry: its response is a copy of data that leaves the
   * service, or has values that not every user may see.
   */
  audited?: true;
  /** Refuses what the edition does not include (402), before the body is validated (400). */
  assertLicensed?: (body: Record<string, unknown>, params: Record<string, string>) => void;
  /**
   * Passes the request on to another host, which checks its query and its body. The response may be a
   * WebSocket.
   */
  forwards?: true;
  /**
   * Ignores unknown parameters and fields: other programs add their own to links (`utm_source`) and
   * forms (SAML bindings, 3.5.4; RFC 8058).
   */
  ignoresUnknown?: true;
  /** Request headers that it reads, by name, with their meaning; for the API document. */
  headers?: Record<string, string>;
  /** The parameters of the path; unless given, each is a text of 1 to 255 characters. */
  params?: Params;
  query?: Query;
  /** Query parameters that may be given several times; the shape gets an array. */
  repeatable?: readonly string[];
  body?: Body;
  /** Largest body, in bytes; unless given 1 MiB, and 64 KiB of a public endpoint. */
  bodyBytesMax?: number;
  /** A body of any size, which the handler reads from the request with `readUpload()`. */
  upload?: UploadLimits;
  /** The body of a form (`application/x-www-form-urlencoded`) instead of JSON. */
  form?: Body;
  /** The response. Fields that are not declared here never leave the service. */
  returns: Returns;
  /** Status of a successful response; 200 unless given. */
  status?: 101 | 200 | 201 | 202 | 302;
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
  /** The id of the request, for logs. */
  requestId: string;
  note: Note;
  /** Records the start or the end of a connection that outlives its request. */
  recordPhase: RecordPhase;
  /**
   * Refuses a login from an address that is not admitted for the user. Endpoints that issue tokens
   * call it before they store anything.
   *
   * @throws {AppError} `forbidden`
   */
  admit: (userId: string) => void;
  /**
   * Checks the caller again, as before the request was read. Uploads do so while they are read.
   *
   * @throws {AppError} E.g. `unauthorized` for a token that was revoked meanwhile.
   */
  assertAllowed: () => Promise<void>;
  /** Grants and limits of a user's custom roles, as the session of a page has them. */
  rightsOf: (userId: string) => { permissions: string[]; isLimitedToHosts: boolean };
  /**
   * Permissions of a user's custom roles, e.g. `containers:start`; `*` is expanded.
   *
   * @param host Host of the fleet where they count; default: at any.
   */
  grantedTo: (userId: string, host?: ScopedHost) => string[];
  /** Sets the `Set-Cookie` header of the response, also of a failure. */
  setCookie: (cookie: string) => void;
}

/** Adds an entry to the audit and compliance logs. Resolves when it is stored. */
export type RecordPhase = (
  phase: "start" | "end",
  entry: { targets: readonly string[]; command: string; outcome: "success" | "failure" },
) => Promise<void>;

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
  /** The step of a sign-in that is not finished yet: the entry must not look like a login. */
  step?: "first factor";
  /** Adds an entry to the audit log for a read, because the host that answered it has one. */
  audited?: true;
  /** Leaves the audit log without an entry: the request was a preview. */
  unaudited?: true;
  /** Leaves the compliance log without an entry for a success: nothing new has happened. */
  isRoutine?: boolean;
}

/** A route, its contract and its handler, with the types of the shapes erased. */
export interface Endpoint extends Contract {
  method: "get" | "post" | "put" | "delete";
  path: string;
  handle(input: Input<unknown, unknown, unknown>): unknown;
  /** Media type of a response that is not JSON; the handler then returns a `RawResponse`. */
  produces?: string;
}

/** The permissions of which each suffices; none for an endpoint without one. */
export const permissionsOf = ({ permission, orPermissions = [] }: Contract): readonly string[] =>
  permission === undefined ? [] : [permission, ...orPermissions];

/** `id` and `name` of `GET /containers/:id/files/:name`. */
type ParamNames<Path> = Path extends `${string}/:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : Path extends `${string}/:${infer Name}` ? Name
  : never;

/** The shape of the path's parameters if the contract has none. */
export type PathParams<Path> = z.ZodType<Record<ParamNames<Path>, string>>;

function pathParams(path: string): z.ZodType | undefined {
  const names = Array.from(path.matchAll(/:(\w+)/g), ([, name]) => name!);
  if (names.length === 0) return undefined;
  return z.object(Object.fromEntries(names.map((name) => [name, PathText])));
}

/** Result of a handler; a `Response` is sent as it is, e.g. a page for a browser. */
type Answer<Returns extends z.ZodType> = z.input<Returns> | Response;

/** Joins a contract with its route and its handler, and checks that they agree. */
export function endpoint<
  Path extends Route,
  Params extends z.ZodType = PathParams<Path>,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
  Returns extends z.ZodType = z.ZodUndefined,
>(
  route: Path,
  contract: Contract<Params, Query, Body, Returns>,
  handle: (
    input: Input<z.output<Params>, z.output<Query>, z.output<Body>>,
  ) => Answer<Returns> | Promise<Answer<Returns>>,
): Endpoint {
  const [method, path] = route.split(" ") as [string, string];
  const params = contract.params ?? pathParams(path);
  return {
    ...contract,
    ...(params && { params }),
    method: method.toLowerCase() as Endpoint["method"],
    path,
    handle: handle as Endpoint["handle"],
  };
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
  Path extends Route,
  Params extends z.ZodType = PathParams<Path>,
  Query extends z.ZodType = z.ZodUndefined,
  Body extends z.ZodType = z.ZodUndefined,
>(
  route: Path,
  contract: Omit<Contract<Params, Query, Body>, "version"> & { produces: string },
  handle: (
    input: Input<z.output<Params>, z.output<Query>, z.output<Body>>,
  ) => RawResponse | Promise<RawResponse>,
): Endpoint {
  return endpoint(route, contract, handle as Endpoint["handle"]);
}
