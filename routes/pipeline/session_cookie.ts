/**
 * The cookie that keeps a browser signed in. It holds a refresh token, which scripts of the page
 * cannot read, and belongs to a secret that only the page has: browsers send cookies to every port
 * of a host, but keep the storage of pages apart. Another cookie, for minutes, recognizes the browser
 * that began a login at an identity provider.
 *
 * @module
 */

import type { PresentedTokens } from "../../services/access/sign_in/open_login.ts";
import { recordDashboardHost } from "../../services/access/sign_in/dashboard_hosts.ts";
import type { TokenPair } from "../../services/access/sign_in/sessions.ts";
import type { Deps } from "../../services/deps.ts";
import { LOGIN_S } from "../../services/access/sign_in/login_browser.ts";
import { sha256 } from "../../services/builtins.ts";
import type { Config } from "../../services/config/config.ts";
import { REFRESH_TOKEN_S } from "../../services/access/sign_in/refresh_tokens.ts";
import { AppError } from "../../services/errors.ts";
import { baseUrl } from "./request_url.ts";

type UrlConfig = Pick<Config, "serviceBaseUrl" | "trustedProxies">;

/** Sent by the service's own pages. Pages of other sites cannot send it without a CORS preflight. */
const PAGE_HEADER = "x-requested-with";
const PAGE_HEADER_VALUE = "longshore";

/** The page's secret. */
const SECRET_HEADER = "x-page-secret";

/** 32 random bytes, or the hash of a secret, as base64url. */
export const PAGE_SECRET = /^[\w-]{43}$/;

/** Prefix of names over TLS: browsers accept them only from secure pages of the host's domain. */
const SECURE_PREFIX = "__Secure-";

const SESSION = "longshore";
const LOGIN = "longshore-login";

/** Characters of the secret's hash in a cookie's name, so that pages of several ports have their own. */
const SUFFIX_LENGTH = 16;

/** The only endpoints that read the cookies are below this path. */
const PATH = "/auth/session";

/** A refresh token as text, with some room for longer ones of later versions. */
const VALUE = /^[\w-]{1,512}$/;

/** Limit of cookies of one name that are tried; browsers keep at most 180 for a domain. */
const SAME_NAME_MAX = 200;

/** Remembers the host of a session's page. @returns The `Set-Cookie` header with its refresh token. */
export function sessionCookie(
  deps: Pick<Deps, "config" | "db">,
  request: Request,
  pageHash: string,
  { refreshToken, role }: Pick<TokenPair, "refreshToken" | "role">,
): string {
  const { config } = deps;
  recordDashboardHost(deps, role, baseUrl(config, request));
  return cookie(config, request, nameOf(SESSION, pageHash), refreshToken, REFRESH_TOKEN_S);
}

/** The `Set-Cookie` header that recognizes the browser at the end of its login. */
export function loginCookie(
  config: UrlConfig,
  request: Request,
  pageHash: string,
  secret: string,
): string {
  return cookie(config, request, nameOf(LOGIN, pageHash), secret, LOGIN_S);
}

/** The `Set-Cookie` header that deletes the cookie. */
export function expiredSessionCookie(
  config: UrlConfig,
  request: Request,
  pageHash: string,
): string {
  return cookie(config, request, nameOf(SESSION, pageHash), "", 0);
}

/** The hash of the page's secret in the header of a request; `undefined` without a valid one. */
export function pageHashOf({ headers }: Request): string | undefined {
  const secret = headers.get(SECRET_HEADER);
  return secret !== null && PAGE_SECRET.test(secret) ? sha256(secret) : undefined;
}

/**
 * The page's secret and the cookies of its session; several if other sites of the host have added
 * some of this name.
 *
 * @throws {AppError} `unauthorized` without the secret or without a cookie.
 */
export function readSession(
  config: UrlConfig,
  request: Request,
): PresentedTokens & { pageHash: string } {
  const pageHash = pageHashOf(request);
  if (pageHash === undefined) {
    throw new AppError("unauthorized", "The header X-Page-Secret is missing or invalid");
  }
  const tokens = readCookies(config, request, nameOf(SESSION, pageHash));
  if (tokens.length === 0) throw new AppError("unauthorized", "The session cookie is missing");
  return { tokens, pageHash };
}

/** The cookies that {@linkcode loginCookie} sets. */
export const readLoginCookies = (
  config: UrlConfig,
  request: Request,
  pageHash: string,
): string[] => readCookies(config, request, nameOf(LOGIN, pageHash));

function readCookies(config: UrlConfig, request: Request, own: string): string[] {
  const start = `${cookieName(config, request, own)}=`;
  return (request.headers.get("cookie") ?? "").split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(start))
    .map((pair) => pair.slice(start.length))
    .filter((value) => VALUE.test(value))
    .slice(0, SAME_NAME_MAX);
}

/**
 * Refuses requests that pages of other sites make with the user's cookie.
 *
 * @throws {AppError} `forbidden`
 */
export function assertOwnPage(config: UrlConfig, request: Request): void {
  assertSameOrigin(config, request);
  if (request.headers.get(PAGE_HEADER)?.toLowerCase() !== PAGE_HEADER_VALUE) {
    throw new AppError(
      "forbidden",
      `The header X-Requested-With: ${PAGE_HEADER_VALUE} is required`,
    );
  }
}

/**
 * Refuses requests of other origins, also of those in `CORS_ORIGINS`. Clients other than browsers
 * send neither header.
 *
 * @throws {AppError} `forbidden`
 */
export function assertSameOrigin(config: UrlConfig, request: Request): void {
  const site = request.headers.get("sec-fetch-site");
  const origin = request.headers.get("origin");
  // Browsers send `Sec-Fetch-Site` only over TLS and to localhost. Pages cannot change it.
  if (site === "same-origin" || (site === null && origin === null)) return;
  if (site === null && ownOrigins(config, request).includes(origin!)) return;
  throw new AppError(
    "forbidden",
    "Browser sign-in is limited to this service's own pages; behind a proxy, set SERVICE_BASE_URL",
  );
}

/** The origin in `SERVICE_BASE_URL`, and the one that the client used. */
function ownOrigins(config: UrlConfig, request: Request): string[] {
  const used = baseUrl({ ...config, serviceBaseUrl: null }, request);
  return [baseUrl(config, request), used].map((url) => new URL(url).origin);
}

const nameOf = (own: string, pageHash: string) => `${own}-${pageHash.slice(0, SUFFIX_LENGTH)}`;

const cookieName = (config: UrlConfig, request: Request, own: string) =>
  isSecure(config, request) ? SECURE_PREFIX + own : own;

const isSecure = (config: UrlConfig, request: Request) =>
  baseUrl(config, request).startsWith("https:");

/** Below the path of a proxy, if `SERVICE_BASE_URL` has one. */
const cookiePath = (config: UrlConfig, request: Request) =>
  new URL(baseUrl(config, request)).pathname.replace(/\/$/, "") + PATH;

function cookie(
  config: UrlConfig,
  request: Request,
  own: string,
  value: string,
  maxAgeS: number,
): string {
  return [
    `${cookieName(config, request, own)}=${value}`,
    `Path=${cookiePath(config, request)}`,
    `Max-Age=${maxAgeS}`,
    "HttpOnly",
    "SameSite=Strict",
    ...(isSecure(config, request) ? ["Secure"] : []),
  ].join("; ");
}
