/** The parts of a browser's login that all identity providers share. @module */

import * as z from "zod";
import { randomText, sha256 } from "../../services/builtins.ts";
import type { Deps } from "../../services/deps.ts";
import type { BrowserLogin, LoginBrowser } from "../../services/access/sign_in/login_browser.ts";
import type { AppError } from "../../services/errors.ts";
import { EditionLimitBody, ErrorBody } from "../contract/shapes.ts";
import { signInRefusalPage } from "../html/sign_in_pages.ts";
import { failureOf } from "../pipeline/errors.ts";
import { loginCookie, PAGE_SECRET } from "../pipeline/session_cookie.ts";

/** Limit per client address. Each login stores a request. */
export const LOGINS_PER_MINUTE = 30;

const RETURN_TO_MAX = 2_048;

const LOGIN_COOKIE_BYTES = 32;

export const ReturnTo = z.string().max(RETURN_TO_MAX).regex(/^\/(?![\/\\])\P{C}*$/u, {
  error: "must be a path of this service",
});

export const PageHash = z.string().regex(PAGE_SECRET, { error: "must be a SHA-256 as base64url" })
  .meta({
    description:
      "The hash of the secret of the page that begins the login: `GET /auth/providers` " +
      "with `X-Page-Secret` has it in `path`",
    example: "RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o",
  });

/** A browser that begins a login, and the cookie that recognizes it at the end. */
export function newLoginBrowser(
  { config }: Pick<Deps, "config">,
  request: Request,
  page: Omit<LoginBrowser, "hash">,
): { browser: LoginBrowser; cookie: string } {
  const secret = randomText(LOGIN_COOKIE_BYTES);
  return {
    browser: { ...page, hash: sha256(secret) },
    cookie: loginCookie(config, request, page.pageHash, secret),
  };
}

/**
 * The address of the sign-in page that begins a login itself.
 *
 * @param signIn The page, relative to the request, so that it works below a path of a proxy.
 */
export const signInThrough = (signIn: string, provider: string, next: string): string =>
  `${signIn}?${new URLSearchParams({ next, provider })}`;

/** Sends a browser to the sign-in page, which gets its session with the code. */
export function redirectToPage(signIn: string, { code, returnTo }: BrowserLogin): Response {
  const location = `${signIn}?next=${encodeURIComponent(returnTo)}#code=${code}`;
  return new Response(null, { status: 303, headers: { location } });
}

/**
 * A page that says why a login was refused.
 *
 * @param returnTo The page that the browser was going to.
 */
export function refuseBrowser(
  { license }: Pick<Deps, "license">,
  refusal: AppError,
  signIn: string,
  returnTo = "/",
): Response {
  const { status, body: { error: reason } } = failureOf(refusal, license.edition);
  const { text, policy } = signInRefusalPage(
    reason,
    returnTo === "/" ? signIn : `${signIn}?next=${encodeURIComponent(returnTo)}`,
  );
  return new Response(text, { status, headers: pageHeaders(policy) });
}

export const pageHeaders = (policy: string) => ({
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": policy,
});

/** A refusal that browsers get as a page. */
export const refusal = (description: string, returns: z.ZodType = ErrorBody) => ({
  description,
  returns,
  alternatives: { "text/html": z.string() },
});

export const LIMIT_REFUSAL = refusal("The edition allows no more users", EditionLimitBody);

export const throttled = (perMinute: number) => ({
  429: `Limit of ${perMinute} requests per minute and address exceeded; see \`Retry-After\``,
});
