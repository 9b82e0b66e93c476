/**
 * Users, their roles and revoked sessions, in memory. Every request is checked against them, so that
 * a changed role, a deleted user or a logout takes effect with the next request.
 *
 * @module
 */

import { type ApiToken, selectApiTokens } from "../../db/api_tokens.ts";
import { selectRevokedFamilies } from "../../db/revoked_families.ts";
import {
  hasOtherAdmin,
  selectPasswordHash,
  selectRefusedUserIds,
  selectUsers,
  selectUsersOfKeyMode,
} from "../../db/users.ts";
import { selectDataVersion } from "../../db/data_version.ts";
import type { StateDatabase } from "../../db/database.ts";
import { errorFields, type Log, silentLog } from "../log.ts";
import type { Config } from "../config/config.ts";
import { type Mode, type ModeConfig, signInMode } from "./sign_in/mode.ts";
import {
  type ApiTokenRef,
  type Caller,
  type HubRef,
  includesRole,
  type PassedTicket,
  type UserRole,
} from "./caller.ts";

/** User id of a caller with the API key, in key mode. */
export const KEY_USER = "key";

/** User id of a caller with METRICS_TOKEN. */
export const METRICS_USER = "metrics";

/** A session of a user, or the use of an API token. A {@linkcode Caller} has these fields, too. */
export interface Session {
  userId: string;
  /** Empty for an API token. */
  familyId: string;
  apiToken?: ApiTokenRef;
  /** The hub of a user that has no account here. */
  hub?: HubRef;
}

/** Session for which a ticket was issued. */
export interface TicketGrant extends Session {
  /** When its stream ends: with the token of the caller, or after the life of an access token. */
  expiresAtMs: number;
  /** The terminal at a host that it is for; missing for a stream. */
  passed?: PassedTicket | undefined;
}

export type Accounts = ReturnType<typeof createAccounts>;

/** Limit of users and sessions of providers whose ends are remembered; the oldest is forgotten. */
const ENDINGS_MAX = 10_000;

/** Interval of the check whether another process changed the database, in milliseconds. */
const REFRESH_MS = 1_000;

/**
 * Reads the accounts. In key mode these are the holder of the API key and the users of SAML
 * providers, who have no password; users with a password cannot log in there. The services update
 * the accounts with what they store. Changes by another process (`longshore user ...` next to a
 * running service) are noticed within a second.
 */
export function createAccounts(
  db: StateDatabase,
  config: ModeConfig & Pick<Config, "oidcProviders">,
  now: () => Date,
  log: Log = silentLog,
) {
  const roles = new Map<string, UserRole>();
  // Roughly in the order of their expiry.
  const revoked = new Map<string, number>();
  const listeners: (() => void)[] = [];
  let isNotifying = false;
  const tokens = new Map<string, ApiToken>();
  /** Users whose identity provider gives them no role: their API tokens have none either. */
  const refused = new Set<string>();
  /** Ends of all open sign-ins, numbered, by user and by what a provider calls them. */
  const endings = new Map<string, number>();
  let lastEnding = 0;
  let mode: Mode;
  let version = 0;
  let refreshedAt = now().getTime();

  read(now());

  function read(at: Date): void {
    const readVersion = selectDataVersion(db);
    const readMode = signInMode(db, config);
    const users = readMode === "key" ? selectUsersOfKeyMode(db) : selectUsers(db);
    const families = selectRevokedFamilies(db, at.toISOString());
    const apiTokens = selectApiTokens(db);
    const refusedIds = selectRefusedUserIds(db);
    // Nothing is replaced before everything was read: a failed read must not lock out all users.
    mode = readMode;
    roles.clear();
    if (mode === "key") roles.set(KEY_USER, "admin");
    for (const { id, role } of users) roles.set(id, role);
    revoked.clear();
    for (const { familyId, expiresAt } of families) revoked.set(familyId, Date.parse(expiresAt));
    tokens.clear();
    for (const token of apiTokens) tokens.set(token.tokenHash, token);
    refused.clear();
    for (const id of refusedIds) refused.add(id);
    version = readVersion;
  }

  function refresh(within = REFRESH_MS): void {
    const at = now();
    if (Math.abs(at.getTime() - refreshedAt) < within) return;
    refreshedAt = at.getTime();
    if (selectDataVersion(db) === version) return;
    read(at);
    notify();
  }

  /** Calls the listeners once after all changes of this turn. */
  function notify(): void {
    if (isNotifying) return;
    isNotifying = true;
    queueMicrotask(() => {
      isNotifying = false;
      for (const listener of listeners) {
        try {
          listener();
        } catch (error) {
          log.error("change of access not applied", errorFields(error));
        }
      }
    });
  }

  /** Removes an API token, after the row was deleted. */
  function removeToken(id: string): void {
    for (const [hash, token] of tokens) if (token.id === id) tokens.delete(hash);
    notify();
  }

  return {
    get mode(): Mode {
      refresh();
      return mode;
    },
    /** Reads everything again, after the mode has changed. */
    reread(): void {
      read(now());
      notify();
    },
    /**
     * Returns the user's current role; `undefined` if the user was deleted, the session revoked, or
     * the API token deleted, replaced or expired, or its owner refused by the identity provider. With an API token it is the lower of the two roles.
     * What outlives a request (a stream, a ticket) has to call it again.
     */
    roleOf({ userId, familyId, apiToken, hub }: Session): UserRole | undefined {
      // The hub ends what its users may no longer have open, and the link ends with the hub.
      if (hub) return hub.role;
      refresh();
      // A user that another process has just added can log in at once.
      if (!roles.has(userId)) refresh(0);
      const role = revoked.has(familyId) ? undefined : roles.get(userId);
      if (!role || !apiToken) return role;
      if (refused.has(userId)) return undefined;
      const token = tokens.get(apiToken.hash);
      if (token?.userId !== userId || hasExpired(token, now())) return undefined;
      return includesRole(role, token.role) ? token.role : role;
    },
    /** Returns the API token with this hash (SHA-256, base64url), whether it has expired or not. */
    findToken(hash: string): ApiToken | undefined {
      refresh();
      // A token that another process has just created is accepted at once.
      if (!tokens.has(hash)) refresh(0);
      return tokens.get(hash);
    },
    /** Adds an API token or replaces the one with the same id, after it was stored. */
    putToken(token: ApiToken): void {
      if (!tokens.has(token.tokenHash)) removeToken(token.id);
      tokens.set(token.tokenHash, token);
    },
    removeToken,
    /** Adds a user or changes a role, after it was stored. */
    put(userId: string, role: UserRole): void {
      if (mode === "key" && selectPasswordHash(db, userId) !== null) return;
      roles.set(userId, role);
      notify();
    },
    /** Ends the API tokens of a user for now, or lets them act again, after it was stored. */
    setRefused(userId: string, isRefused: boolean): void {
      if (isRefused) refused.add(userId);
      else refused.delete(userId);
      notify();
    },
    /** Whether the API tokens of a user are ended for now. */
    isRefused: (userId: string): boolean => refused.has(userId),
    /**
     * Whether there is another admin who can sign in, whom no identity provider refuses, and who is
     * not limited to hosts.
     */
    hasOtherAdmin: (userId: string): boolean =>
      hasOtherAdmin(db, userId, config.oidcProviders.map(({ issuer }) => issuer)),
    /** Removes a user, after the row was deleted. */
    remove(userId: string): void {
      roles.delete(userId);
      notify();
    },
    /** Revokes the tokens of a session. `expiresAt` is when its last access token expires. */
    revoke(familyId: string, expiresAt: Date): void {
      const at = now().getTime();
      for (const [other, until] of revoked) {
        if (until > at) break;
        revoked.delete(other);
      }
      revoked.delete(familyId);
      revoked.set(familyId, expiresAt.getTime());
      notify();
    },
    /** Ends the sign-ins that are not stored yet, of a user or of what {@linkcode isOpenOf} was asked. */
    endSignIns(key: string): void {
      endings.delete(key);
      if (endings.size >= ENDINGS_MAX) endings.delete(endings.keys().next().value!);
      endings.set(key, ++lastEnding);
    },
    /** Number of the last end of sign-ins, from which {@linkcode isOpenOf} counts. */
    get lastEnding() {
      return lastEnding;
    },
    /**
     * Returns a function that says whether a sign-in is open, with each of the keys.
     *
     * @param since The last end before it began; default: it begins now.
     */
    isOpenOf(keys: readonly string[], since = lastEnding): () => boolean {
      return () => keys.every((key) => (endings.get(key) ?? 0) <= since);
    },
    /** Calls `listener` after a role changed, or a user, session or API token was removed. */
    subscribe: (listener: () => void): void => void listeners.push(listener),
    /** Number of revoked sessions in memory, for tests. */
    get revokedCount() {
      return revoked.size;
    },
  };
}

const hasExpired = ({ expiresAt }: ApiToken, now: Date) =>
  expiresAt !== null && expiresAt <= now.toISOString();

/**
 * Returns the caller of a session, with the current role and the limits of the API token;
 * `undefined` as `Accounts.roleOf()`.
 */
export function callerOf(
  accounts: Accounts,
  of: Session,
  address: string,
): Caller | undefined {
  const session = sessionOf(of);
  const { apiToken, hub } = session;
  const role = accounts.roleOf(session);
  if (!role) return undefined;
  if (hub) return callerOfHub(session.userId, hub);
  if (!apiToken) return { ...session, role, address };
  const token = accounts.findToken(apiToken.hash)!;
  const { permissions, stacks, containers, hosts, hostLabels } = token;
  const scope = { permissions, stacks, containers, hosts, hostLabels };
  return { ...session, role, address, scope };
}

/** The parts of a caller that a ticket keeps. */
export const sessionOf = ({ userId, familyId, apiToken, hub }: Session): Session => ({
  userId,
  familyId,
  ...(apiToken && { apiToken }),
  ...(hub && { hub }),
});

/** The caller of a request that a hub passed on. The address of its client is the hub's matter. */
export const callerOfHub = (userId: string, hub: HubRef): Caller => ({
  userId,
  familyId: "",
  role: hub.role,
  address: "",
  hub,
  ...(hub.scope && { scope: hub.scope }),
  rights: {
    grants: (permission) => hub.permissions.includes(permission),
    hostLimits: () => undefined,
    includeThoseOf: () => false,
    isAdmitted: () => true,
  },
});
