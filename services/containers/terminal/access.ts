/**
 * Access to terminals: for admins, if `TERMINAL=admin`, with a ticket for exactly one container.
 *
 * @module
 */

import { selectSession } from "../../../db/sessions.ts";
import { callerOf, KEY_USER, sessionOf } from "../../access/accounts.ts";
import { type Caller, includesRole } from "../../access/caller.ts";
import { includesContainer } from "../../access/scope.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { TerminalGrant } from "../../access/caller.ts";
import { TICKET_MS } from "../../stream/tickets.ts";
import { assertRunning } from "../containers.ts";
import { assertMayInspect } from "../own_container.ts";
import { type ReadDeps, resolveContainer } from "../reads.ts";
import { splitWords } from "../exec/shell_words.ts";

/** Highest age of a user's login, in milliseconds. */
const LOGIN_AGE_MAX_MS = 12 * 60 * 60 * 1000;

export type LoginDeps = Pick<Deps, "accounts" | "db" | "now">;
type TicketDeps = ReadDeps & LoginDeps & Pick<Deps, "config" | "terminals" | "terminalTickets">;

/** A request for a terminal. */
export interface TerminalRequest {
  kind: TerminalGrant["kind"];
  /** Id, prefix or name of the container. */
  ref: string;
  command?: string | undefined;
  user?: string | undefined;
  cols: number;
  rows: number;
}

/** @throws {AppError} `forbidden` */
function assertTerminalOn({ config }: Pick<Deps, "config">): void {
  if (config.terminal === "admin") return;
  throw new AppError("forbidden", "Terminals are off; set TERMINAL=admin to allow them to admins");
}

/**
 * Issues a ticket for one terminal in one container, which is valid for 30 seconds.
 *
 * @throws {AppError} `forbidden` if terminals are off, or the login is too old; `invalid` or
 * `forbidden` for a malformed command; `not_found`; `conflict` if the container is not running;
 * `unavailable` if too many terminals are open.
 */
export async function issueTerminalTicket(
  deps: TicketDeps,
  caller: Caller,
  { kind, ref, command, user, cols, rows }: TerminalRequest,
): Promise<{ ticket: string; expiresAt: string }> {
  assertTerminalAllowed(deps, caller);
  const argv = command === undefined ? null : splitWords(command);
  const container = await resolveContainer(deps, ref);
  assertMayInspect(container, caller);
  assertRunning(container);
  deps.terminals.assertFree();
  const ticket = deps.terminalTickets.issue({
    ...sessionOf(caller),
    terminal: { kind, containerId: container.id, command: argv, user: user ?? null, cols, rows },
  });
  return { ticket, expiresAt: new Date(deps.now().getTime() + TICKET_MS).toISOString() };
}

/** @throws {AppError} `forbidden` if terminals are off, or the login is too old. */
export function assertTerminalAllowed(
  deps: LoginDeps & Pick<Deps, "config">,
  caller: Caller,
): void {
  assertTerminalOn(deps);
  assertRecentLogin(deps, caller);
}

/**
 * Returns what the caller's ticket was issued for.
 *
 * @throws {AppError} `unauthorized` without a ticket, and if it was issued for another container or
 * another kind of terminal; `forbidden` if terminals are off, or the login is too old; `not_found`.
 */
export async function assertGranted(
  deps: ReadDeps & LoginDeps & Pick<Deps, "config">,
  caller: Caller,
  { kind, ref }: Pick<TerminalRequest, "kind" | "ref">,
): Promise<TerminalGrant> {
  const grant = caller.terminal;
  if (!grant) throw new AppError("unauthorized", "A ticket is required");
  assertTerminalAllowed(deps, caller);
  if (grant.kind !== kind) {
    throw new AppError("unauthorized", "The ticket is for another kind of terminal");
  }
  const container = await resolveContainer(deps, ref);
  if (container.id !== grant.containerId) {
    throw new AppError("unauthorized", "The ticket is for another container");
  }
  return grant;
}

/**
 * Refuses browser pages of other origins (RFC 6455, section 10.2). Programs send no `Origin`.
 *
 * @param own The service's own addresses: as configured, and as the client used it.
 * @throws {AppError} `forbidden`
 */
export function assertOrigin(
  { config }: Pick<Deps, "config">,
  { origin, host }: { origin: string | null; host: string | null },
): void {
  if (origin === null || config.corsOrigins.includes(origin)) return;
  const url = URL.parse(origin);
  const own = config.serviceBaseUrl === null ? null : new URL(config.serviceBaseUrl).origin;
  // A proxy may have ended TLS, so that the scheme of the client's address is not known.
  if (url && url.origin === origin && (origin === own || url.host === host)) return;
  throw new AppError(
    "forbidden",
    "The Origin header must be the address of this service or in CORS_ORIGINS",
  );
}

/**
 * Says why the caller may no longer use a terminal; `undefined` if they may. Role, login, address and
 * the name of the container, which an API token may be limited to, can change at any time.
 */
export function refusalOf(
  deps: LoginDeps & Pick<Deps, "inventory">,
  caller: Caller,
): string | undefined {
  const current = callerOf(deps.accounts, caller, caller.address);
  if (current === undefined) return "The login was revoked";
  if (!includesRole(current.role, "admin")) return "The role admin is required for this";
  const container = deps.inventory.get(caller.terminal?.containerId ?? "");
  if (container && !includesContainer(current.scope, container)) {
    return "The API token is limited to other containers";
  }
  if (caller.rights?.isAdmitted() === false) return "The IP allowlist rejects the address";
  return loginRefusal(deps, caller);
}

function assertRecentLogin(deps: LoginDeps, caller: Caller): void {
  const refusal = loginRefusal(deps, caller);
  if (refusal !== undefined) throw new AppError("forbidden", refusal);
}

/**
 * Says why a login is not recent enough; `undefined` if it is. The key of key mode has no login of its
 * own, and a hub checks the logins of its users itself.
 */
export function loginRefusal(
  { db, now }: LoginDeps,
  { userId, familyId, hub }: Caller,
): string | undefined {
  if (userId === KEY_USER || hub) return undefined;
  const session = selectSession(db, familyId);
  const at = now();
  const isRecent = session !== undefined && at.toISOString() < session.expiresAt &&
    at.getTime() - Date.parse(session.createdAt) < LOGIN_AGE_MAX_MS;
  return isRecent ? undefined : "Terminals need a login of the last 12 hours; log in again";
}
