/**
 * The access policy: an edition's checks of every request, including requests to endpoints of other
 * editions. It admits client addresses, grants permissions beyond the caller's role, and records
 * requests. Only Enterprise has one.
 *
 * @module
 */

import type { Caller } from "./caller.ts";
import type { HostLimits, ScopedHost } from "./scope.ts";

/** A request and its outcome. */
export interface Observation {
  /** `undefined` when the request was refused before the caller was known. */
  caller: Caller | undefined;
  /** Address of the client, as seen behind trusted proxies. */
  address: string;
  requestId: string;
  /** In upper case. */
  method: string;
  /** The pattern of the path, e.g. `/api/containers/:id/stop`. */
  path: string;
  /** The permission that the endpoint requires, e.g. `containers:stop`; `undefined` if public. */
  permission: string | undefined;
  /** The path parameters, else the name in the body, else empty. */
  target: string;
  /** Ids and names of all affected objects. */
  targets: readonly string[];
  /** The command or options that the request executed. */
  command: string | null;
  status: number;
  /**
   * The part that this is of something longer: a connection that outlives its request, which is
   * recorded like a write, or a sign-in that needs another factor.
   */
  phase?: "start" | "end" | "first factor" | undefined;
  outcome: "success" | "failure" | "denied";
  /** After a login: the id of the user who logged in. */
  actor: string | undefined;
}

export interface AccessPolicy {
  /**
   * Refuses a client whose address is not admitted. Called before authentication and again with the
   * authenticated caller.
   *
   * @throws {AppError} `forbidden`
   */
  admit(address: string, caller?: Caller): void;
  /** Whether the caller's address is still admitted. Used by streams, which outlive their request. */
  admits(caller: Caller): boolean;
  /** Whether custom roles are in force. */
  hasCustomRoles: boolean;
  /**
   * Whether a user has a permission that their role does not have, e.g. `containers:start`.
   *
   * @param host Host of the fleet where it is needed; default: at any.
   */
  grants(userId: string, permission: string, host?: ScopedHost): boolean;
  /** Limits of a user to hosts of the fleet, of which one has to match; `undefined` without any. */
  hostLimits(userId: string): readonly HostLimits[] | undefined;
  /** Whether the caller has every permission that a user has beyond their role. */
  includesRightsOf(caller: Caller, userId: string): boolean;
  /** Records a request. The response is sent after the promise settles. */
  record(observation: Observation): void | Promise<void>;
}

/**
 * Returns the access policy: `undefined` without its edition, a promise while it is loading. In the
 * protection period after the edition has ended, it checks addresses, records requests and keeps limits
 * to hosts, but grants no permissions.
 */
export type CurrentAccessPolicy = () => AccessPolicy | undefined | Promise<AccessPolicy>;
