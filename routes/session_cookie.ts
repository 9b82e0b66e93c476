/**
 * The cookie that keeps a browser signed in. It holds a refresh token, which scripts of the page
 * cannot read. Another one, for minutes, recognizes the browser that began a login at an identity
 * provider.
 *
 * @module
 */

import type { Config } from "../services/config/config.ts";
import { REFRESH_TOKEN_S } from "../services/ce/auth/refresh_tokens.ts";
import { AppError } from "../services/errors.ts";
import { baseUrl } from "./request_url.ts";

type UrlConfig = Pick<Config, "serviceBaseUrl" | "trustedProxies">;

/** Sent by the service's own pages. Pages of other sites cannot send it without a CORS preflight. */
const PAGE_HEADER = "x-requested-with";
const PAGE_HEADER_VALUE = "longshore";

/**
 * Prefix of names over TLS. Browsers accept it only from this host and for the path `/`, so that a
 * neighboring subdomain cannot set the cookie. Without TLS it would be ignored.
 */
const SECURE_PREFIX = "__Host-";

const SESSION = "longshore";
const LOGIN = "longshore-login";

/** How long a login at an identity provider may take, in seconds. */
const LOGIN_S = 15 * 60;

/** A refresh token as text, with some room for longer ones of later versions. */
const VALUE = /^[\w-]{1,512}$/;

/** The `Set-Cookie` header that stores a refresh token. */
export function sessionCookie(config: UrlConfig, request: Request, refreshToken: string): string {
  return cookie(config, request, SESSION, refreshToken, REFRESH_TOKEN_S);
}

/** The `Set-Cookie` header that recognizes the browser at the end of its login. */
export function loginCookie(config: UrlConfig, request: Request, secret: string): string {
  return cookie(config, request, LOGIN, secret, LOGIN_S);
}

/** The `Set-Cookie` header that deletes the cookie. */
export function expiredSessionCookie(config: UrlConfig, request: Request): string {
  return cookie(config, request, SESSION, "", 0);
}

/**
 * The refresh token in the cookie of a request; `undefined` without a cookie or with several of its
 * name, because then another site of the host's domain may have set one of them.
 */
export function readSessionCookie(config: UrlConfig, request: Request): string | undefined {
  return readCookie(config, request, SESSION);
}

/** The same of the cookie that {@linkcode loginCookie} sets. */
export function readLoginCookie(config: UrlConfig, request: Request): string | undefined {
  return readCookie(config, request, LOGIN);
}

function readCookie(config: UrlConfig, request: Request, own: string): string | undefined {
  const name = cookieName(config, request, own);
  const values = (request.headers.get("cookie") ?? "").split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  const [value] = values;
  return values.length === 1 && VALUE.test(value!) ? value : undefined;
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

const cookieName = (config: UrlConfig, request: Request, own: string) =>
  isSecure(config, request) ? SECURE_PREFIX + own : own;

const isSecure = (config: UrlConfig, request: Request) =>
  baseUrl(config, request).startsWith("https:");

function cookie(
  config: UrlConfig,
  request: Request,
  own: string,
  value: string,
  maxAgeS: number,
): string {
  return [
    `${cookieName(config, request, own)}=${value}`,
    "Path=/",
    `Max-Age=${maxAgeS}`,
    "HttpOnly",
    "SameSite=Strict",
    ...(isSecure(config, request) ? ["Secure"] : []),
  ].join("; ");
}
