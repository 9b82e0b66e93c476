/** Callers and what they may do. @module */

import { AppError } from "../errors.ts";
import { allowsPermission, type HostLimits, type Scope, type ScopedHost } from "./scope.ts";

/** The roles that a user can have, from least to most. */
export const USER_ROLES = ["viewer", "operator", "admin"] as const;
export type UserRole = (typeof USER_ROLES)[number];

/** Each role may do what the ones before it may. */
const ROLES = ["public", ...USER_ROLES] as const;
export type Role = (typeof ROLES)[number];

/** Identifies the API token of a caller. */
export interface ApiTokenRef {
  id: string;
  /** The name that its owner gave it, for the logs. */
  name: string;
  /** SHA-256 of its secret, base64url. */
  hash: string;
}

/** Container and endpoint that a terminal ticket is valid for. */
export interface TerminalGrant {
  /** A new shell, or the main process of the container. */
  kind: "shell" | "attach";
  /** Full id. */
  containerId: string;
  /** Program and arguments to try before the usual shells; `null` without one. */
  command: readonly string[] | null;
  /** `user` or `user:group`; `null` for the container's own. */
  user: string | null;
  cols: number;
  rows: number;
}

/** The hub that passed a request on for one of its users, and all that the user may do here. */
export interface HubRef {
  /** The hub's key. */
  id: string;
  /** Name of the hub, for the logs. */
  name: string;
  /** Name of the user at the hub, for the logs. */
  user: string;
  role: UserRole;
  /** The highest role that this host allows its users; missing where the hub itself calls. */
  roleMax?: UserRole;
  scope?: Scope;
  /** Permissions beyond the role. */
  permissions: readonly string[];
  /** Whether its users may run programs in containers. */
  mayRunPrograms: boolean;
}

/** The party behind a request. */
export interface Caller {
  /** `"key"` in key mode, empty for a caller without a token. */
  userId: string;
  role: Role;
  /** The session that the token belongs to; empty without one. */
  familyId: string;
  /** When the token expires, in Unix milliseconds; missing without one. */
  expiresAtMs?: number;
  /** Address of the client, as seen behind trusted proxies. */
  address: string;
  /** Missing for a login. */
  apiToken?: ApiTokenRef;
  /**
   * The limits of the API token, and of custom roles that are limited to hosts; missing without any.
   * `role` is not above the token's role.
   */
  scope?: Scope;
  /** Only of a request that a hub passed on: its users have no account here. */
  hub?: HubRef;
  /** Grant of the caller's ticket; only with a terminal ticket. */
  terminal?: TerminalGrant | undefined;
  /** Only with a ticket for a terminal at a host of this hub. */
  passed?: PassedTicket | undefined;
  /** Rights that an edition adds to the role; missing without that edition. */
  rights?: Rights;
}

/** A terminal at a host of this hub, for which a ticket was issued. */
export interface PassedTicket {
  hostId: string;
  /** Path at the host. */
  path: string;
  /** The host's own ticket, which never leaves this hub. */
  ticket: string;
}

/** The holder of a terminal ticket, and what it was issued for. */
export type TerminalHolder =
  & Pick<Caller, "userId" | "familyId" | "apiToken" | "hub">
  & { terminal: TerminalGrant };

/** Permissions of a caller beyond their role, evaluated at each call. */
export interface Rights {
  /**
   * Whether it is granted, e.g. `containers:start`.
   *
   * @param host Host of the fleet where it is needed; default: at any of those the caller sees.
   */
  grants(permission: string, host?: ScopedHost): boolean;
  /** Limits to hosts by custom roles, of which one has to match; `undefined` without any. */
  hostLimits(): readonly HostLimits[] | undefined;
  /** Whether this caller has every permission that another user has beyond their role. */
  includeThoseOf(userId: string): boolean;
  /** Whether the caller's address is still allowed. */
  isAdmitted(): boolean;
}

/** Whether a caller with the role `have` may do what requires the role `need`. */
export function includesRole(have: Role, need: Role): boolean {
  return ROLES.indexOf(have) >= ROLES.indexOf(need);
}

/** Whether the caller has the limits of an API token: those of a login are of its custom roles. */
export const isOfToken = (
  { scope, apiToken, hub }: Pick<Caller, "scope" | "apiToken" | "hub">,
): boolean => scope !== undefined && (apiToken !== undefined || hub !== undefined);

/**
 * Whether the caller's role allows something, or a custom role grants it, and an API token has that
 * permission. An API token uses what custom roles grant only if it names the permission.
 *
 * @param host Host of the fleet where the caller would do it; default: this server.
 */
export function mayDo(
  caller: Caller,
  need: Role,
  permission: string,
  host?: ScopedHost,
): boolean {
  const { scope, rights } = caller;
  if (!allowsPermission(scope, permission)) return false;
  if (includesRole(caller.role, need)) return true;
  return (!isOfToken(caller) || scope!.permissions !== null) &&
    rights?.grants(permission, host) === true;
}

/** Actions on containers that another setting can cause, such as a remediation rule. */
type CausedAction = "start" | "stop" | "restart" | "update";

/**
 * Checks that the caller may do what a setting will do on its own later: the permission to change the
 * setting is not enough.
 *
 * @throws {AppError} `forbidden`
 */
export const assertMayCause = (caller: Caller, action: CausedAction): void =>
  assertMayDo(caller, "operator", `containers:${action}`);

/**
 * Checks a permission that depends on the content of a request, not only on its endpoint.
 *
 * @throws {AppError} `forbidden`
 */
export function assertMayDo(caller: Caller, need: Role, permission: string): void {
  if (mayDo(caller, need, permission)) return;
  throw roleRequired(caller, need, ` or ${permission}`);
}

/**
 * Refuses what would give away the keys of this server to everybody but an admin who has logged in here:
 * neither an API token, a custom role nor a hub is enough.
 *
 * @param action In words, after "may".
 * @throws {AppError} `forbidden`
 */
export function assertAdminLogin(
  caller: Pick<Caller, "role" | "apiToken" | "hub">,
  action: string,
): void {
  if (includesRole(caller.role, "admin") && !caller.apiToken && !caller.hub) return;
  throw new AppError("forbidden", `Only admins who log in may ${action}`);
}

/**
 * The error for a caller whose role is too low. A user of a hub may be an admin there, and learns what
 * this host allows.
 *
 * @param or The permission that would be enough as well, after "or"; empty without one.
 */
export function roleRequired({ hub }: Pick<Caller, "hub">, need: Role, or: string): AppError {
  const roleMax = hub?.roleMax;
  const message = roleMax !== undefined && !includesRole(roleMax, need)
    ? `The role ${need} is required for this, and this host allows users of its hub the role ` +
      `${roleMax} at most (FLEET_ALLOW)`
    : `The role ${need}${or} is required for this`;
  return new AppError("forbidden", message);
}
