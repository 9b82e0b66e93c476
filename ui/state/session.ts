/**
 * The session of this browser. The access token is in memory only; the refresh token is in a cookie
 * that scripts cannot read. The cookie is accepted only with a secret in the storage of this page,
 * because browsers send cookies to every port of the host.
 *
 * @module
 */

import { batch, signal } from "@preact/signals";
import type { BrowserSession, UserRole } from "../api/types.ts";
import { HOST, ROOT } from "./root.ts";

export interface Session {
  role: UserRole;
  /** Permissions that custom roles grant in addition, e.g. `containers:restart`. */
  permissions: readonly string[];
  /** Whether the user sees hosts of the fleet only, and nothing of this server itself. */
  isLimitedToHosts: boolean;
  serverName: string;
}

/** `undefined` until it is known whether the browser has a session. */
export const session = signal<Session | null | undefined>(undefined);

/** Whether the user has to set up a second factor before anything else. */
export const needsFactor = signal(false);

/**
 * Whether the session has ended under the open page. The page stays as it is, and a dialog over it
 * asks the user to sign in again.
 */
export const hasEnded = signal(false);

const { auth } = document.documentElement.dataset;

/** Mode of sign-in: by API key, or by email and password. */
export const AUTH_MODE = auth === "users" ? "users" : "key";

/** The page for those who have no session: a new server has no way to sign in yet. */
export const DOOR = auth === "setup" ? "/setup" : "/sign-in";

/** End of a sign-in in a window of its own: no page is after the one to sign in. */
export const WINDOW_END = "/sign-in";

/** Whether there are other pages than that of the API, which `UI=off` leaves on. */
export const HAS_DASHBOARD = document.documentElement.dataset.ui !== "off";

/** A token that ends sooner is renewed before it is used, in milliseconds. */
const RENEW_BEFORE_MS = 10_000;

/** Name of the page's secret in the storage. It is removed when the user signs out. */
const SECRET = "longshore-page-secret";

const SECRET_LENGTH = 43;

/** The storage of a page that must not store anything; its session ends with the page. */
const unstored: Record<string, string> = {};

/** Name of the time of the last sign-in in the storage, of which other tabs learn. */
const SIGNED_IN = "longshore-signed-in";

// Another tab has signed out or in.
addEventListener("storage", ({ key, newValue }) => {
  if (key === SECRET && !newValue) leaveSession();
  // A service that cannot be reached leaves the page as it is.
  const isOut = session.peek() === null || hasEnded.peek();
  if (key === SIGNED_IN && newValue && isOut) refreshToken().catch(() => {});
});

let token: { text: string; endsAt: number } | undefined;
let refreshing: Promise<string | undefined> | undefined;
/** The user of the open page. */
let owner: string | undefined;
let isForeign = false;

/** Whether another user has signed in, so that the page is being loaded again. */
export const isReplaced = () => isForeign;

/** The token for a request; `undefined` without a session. */
export async function accessToken(): Promise<string | undefined> {
  if (token && token.endsAt - Date.now() > RENEW_BEFORE_MS) return token.text;
  return session.value && !hasEnded.peek() ? await refreshToken() : undefined;
}

/** Resolves when the user has signed in again, or has left the page; rejects when aborted. */
export function signedInAgain(signal?: AbortSignal | null): Promise<void> {
  return new Promise((resolve, reject) => {
    if (!hasEnded.peek()) return resolve();
    const settle = (how: () => void) => {
      end();
      signal?.removeEventListener("abort", abort);
      how();
    };
    const abort = () => settle(() => reject(signal!.reason));
    const end = hasEnded.subscribe((ended) => {
      if (!ended) settle(resolve);
    });
    if (signal?.aborted) abort();
    else signal?.addEventListener("abort", abort);
  });
}

/**
 * Gets a new access token with the cookie.
 *
 * @returns `undefined` if the session has ended.
 * @throws {Error} With the service's sentence. @throws {TypeError} If it cannot be reached.
 */
export function refreshToken(): Promise<string | undefined> {
  return refreshing ??= refresh().finally(() => refreshing = undefined);
}

async function refresh(): Promise<string | undefined> {
  const response = await call("POST", "auth/session/refresh");
  if (response.ok) return take(await response.json());
  const { error } = await response.json().catch(() => ({}));
  // E.g. while the identity provider cannot be asked; without a sentence, a proxy has answered.
  if (response.status !== 401) throw error === undefined ? new TypeError() : new Error(error);
  endSession();
  return undefined;
}

/** Begins the session of a sign-in, of which other tabs learn. */
export function startSession(started: BrowserSession): void {
  take(started);
  withStorage((storage) => storage[SIGNED_IN] = new Date().toISOString());
}

export async function signOut(): Promise<void> {
  // Requests wait for the end of the session, because the service would refuse their token.
  token = undefined;
  let logoutUrl: string | undefined;
  refreshing = call("DELETE", "auth/session")
    .then(async (response) => {
      ({ logoutUrl } = await response.json().catch(() => ({})));
      return undefined;
    })
    .finally(() => refreshing = undefined);
  await refreshing;
  withStorage((storage) => delete storage[SECRET]);
  leaveSession();
  // The session at the identity provider ends as well.
  if (logoutUrl !== undefined) location.assign(logoutUrl);
}

/** The service does not accept the session any more. */
export function endSession(): void {
  token = undefined;
  if (session.peek()) hasEnded.value = true;
  else leaveSession();
}

/** Leaves the open page for the one to sign in. */
export function leaveSession(): void {
  token = owner = undefined;
  batch(() => {
    needsFactor.value = hasEnded.value = false;
    session.value = null;
  });
}

/** @returns `undefined` if it is the session of another user than the open page's. */
function take(
  { accessToken, expiresIn, role, permissions, isLimitedToHosts, serverName }: BrowserSession,
): string | undefined {
  const user = subjectOf(accessToken);
  if (owner !== undefined && user !== owner) {
    isForeign = true;
    location.reload();
    return undefined;
  }
  owner = user;
  token = { text: accessToken, endsAt: Date.now() + expiresIn * 1000 };
  const now = { role, permissions, isLimitedToHosts, serverName };
  if (JSON.stringify(session.peek()) !== JSON.stringify(now)) session.value = now;
  hasEnded.value = false;
  return accessToken;
}

/** The `sub` claim of a JWT. */
function subjectOf(jwt: string): string {
  const claims = jwt.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/");
  return JSON.parse(atob(claims)).sub;
}

/** Calls an endpoint that a page can use before it has a session. */
export const call = (method: string, path: string, body?: unknown) =>
  fetch(new URL(path, ROOT), {
    method,
    headers: {
      "x-requested-with": "longshore",
      "x-page-secret": pageSecret(),
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });

/** The secret of this page and its other tabs, which is created on first use. */
const pageSecret = () => withStorage((storage) => storage[SECRET] ||= createSecret());

function withStorage<Result>(work: (storage: Record<string, string>) => Result): Result {
  try {
    return work(localStorage as unknown as Record<string, string>);
  } catch {
    return work(unstored);
  }
}

/** About 220 bits. */
const createSecret = () =>
  Array.from(
    crypto.getRandomValues(new Uint8Array(SECRET_LENGTH)),
    (byte) => (byte % 36).toString(36),
  ).join("");

/** From the lowest to the highest. */
export const ROLES: readonly UserRole[] = ["viewer", "operator", "admin"];

/** The highest role that the host whose pages are open allows users of this server. */
export const roleAtHost = signal<UserRole>("admin");

export const includesRole = (role: UserRole, other: UserRole): boolean =>
  ROLES.indexOf(role) >= ROLES.indexOf(other);

/**
 * Whether the user's role includes another one, or a custom role grants the permission of what that
 * role allows. Both are those of the endpoint that is called.
 */
export const hasRole = (role: UserRole, permission = ""): boolean =>
  includesRole(roleAtHost.value, role) && hasRoleAtServer(role, permission);

/** As {@linkcode hasRole} for this server's own endpoints, which pages of a host use as well. */
export const hasRoleAtServer = (role: UserRole, permission = ""): boolean =>
  session.value
    ? includesRole(session.value.role, role) || session.value.permissions.includes(permission)
    : false;

/** Whether this server has a fleet. */
export const hasFleet = (): boolean => document.documentElement.dataset.fleet === "on";

/** Whether the pages show this server itself to the user, or one of its hosts. */
export const seesServer = (): boolean =>
  HOST !== undefined || session.value?.isLimitedToHosts !== true;
