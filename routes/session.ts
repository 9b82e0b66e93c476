/**
 * /auth/session: sign-in of browsers. The refresh token is in a cookie, and only these endpoints
 * accept it, together with the secret of the page that signed in.
 *
 * @module
 */

import * as z from "zod";
import { loginName } from "../services/access/sign_in/login_name.ts";
import { refreshSession } from "../services/access/sign_in/refresh.ts";
import { signIn } from "../services/access/sign_in/first_factor.ts";
import { logOutBrowser, type TokenPair } from "../services/access/sign_in/sessions.ts";
import { logoutSessionOf, logoutUrlOf } from "../services/access/oidc/logout.ts";
import { listOidcSignIns } from "../services/access/oidc/provider.ts";
import type { Deps } from "../services/deps.ts";
import { AppError } from "../services/errors.ts";
import { clientOf } from "./pipeline/client.ts";
import { endpoint } from "./contract/endpoint.ts";
import {
  assertOwnPage,
  assertSameOrigin,
  expiredSessionCookie,
  pageHashOf,
  readLoginCookies,
  readSession,
  sessionCookie,
} from "./pipeline/session_cookie.ts";
import { baseUrl } from "./pipeline/request_url.ts";
import { doneWith } from "./contract/shapes.ts";
import { offersPasskeys } from "../services/access/factors/offered.ts";
import {
  BrowserSession,
  KeyBody,
  LoginBody,
  MfaRequired,
  renewalWithNote,
  signInWithNote,
  THROTTLED,
} from "./users/login.ts";

const CodeBody = z.strictObject({
  code: z.string().min(1).max(512).meta({
    description: "What the sign-in page gets in its address after a login at an identity " +
      "provider. It is valid for 30 seconds, and only with the cookie that the browser got when " +
      "that login began, and with the secret of the page that began it",
    example: "q8X0kz1d6bMZyJmC4nQf2uV7sT9wE3rA5gH1jK6lP0o",
  }),
}).meta({ id: "CodeLogin" });

const LinkBody = z.strictObject({
  link: z.string().min(1).max(512).meta({
    description: "The secret of a link that `longshore user login-link EMAIL` has created on the " +
      "host. It is valid for one sign-in within 10 minutes",
    example: "p3V6m9yXqT1kR8sZ4bN7cF2hJ5wL0dG-aE_uQoYtIxk",
  }),
}).meta({ id: "LinkLogin" });

const Credentials = z.union([LoginBody, KeyBody, CodeBody, LinkBody]).meta({ id: "Credentials" });

const SignInMethods = z.object({
  apiKey: z.boolean(),
  passwords: z.boolean(),
  password: z.boolean().meta({ description: "Same as `passwords`" }),
  passkeys: z.boolean().meta({ description: "Whether a passkey can sign in at this address" }),
  providers: z.array(z.object({
    id: z.string(),
    name: z.string(),
    kind: z.enum(["oidc", "saml"]),
    path: z.string().meta({
      description: "Where a login begins; add `returnTo` (OpenID Connect) or `return_to` (SAML) " +
        "for a session of the dashboard. With the header `X-Page-Secret`, it has the hash of " +
        "that secret",
      example: "/auth/oidc/6f1c9d5e-0f5a-4a5e-9a57-9d8f2c1b7e34/login",
    }),
    url: z.string().meta({ description: "The same with the address of this service" }),
  })),
}).meta({ id: "SignInMethods" });

const FOREIGN_PAGE = { 403: "The request is from another origin" };

const SETS_COOKIE = {
  replyHeaders: { "Set-Cookie": "The refresh token; `HttpOnly` and `SameSite=Strict`" },
} as const;

const PAGE_SECRET = {
  "X-Page-Secret": "A secret that only the page has: 32 random bytes as base64url without padding",
};

const PAGE_HEADERS = { "X-Requested-With": "Must be `longshore`", ...PAGE_SECRET };

const NEEDS_COOKIE = {
  role: "public",
  acceptsCookie: true,
  headers: PAGE_HEADERS,
  failures: {
    401: "The cookie or the page's secret is missing or wrong, or the session has ended",
    403: "The header `X-Requested-With` is missing, or the request is from another origin",
    ...THROTTLED,
  },
} as const;

export const sessionEndpoints = (deps: Deps) => {
  const { config } = deps;

  const assertCookieOfOwnPage = (request: Request) => {
    assertOwnPage(config, request);
    readSession(config, request);
  };

  return [
    endpoint("GET /auth/providers", {
      operationId: "listSignInMethods",
      summary: "List the ways to sign in",
      description:
        "For sign-in pages: what `AUTH_MODE` allows, and the enabled identity providers " +
        "by name.",
      role: "public",
      headers: PAGE_SECRET,
      returns: SignInMethods,
    }, ({ request }) => {
      const pageHash = pageHashOf(request);
      const query = pageHash === undefined ? "" : `?page=${pageHash}`;
      const base = baseUrl(config, request);
      const password = deps.accounts.mode === "users" && config.passwordLogin === "on";
      return {
        apiKey: deps.accounts.mode === "key",
        passwords: password,
        password,
        passkeys: offersPasskeys(deps, base),
        providers: [...listOidcSignIns(deps), ...deps.signInProviders.list()].map((each) => ({
          ...each,
          path: each.path + query,
          url: base + each.path + query,
        })),
      };
    }),

    endpoint("POST /auth/session", {
      operationId: "createSession",
      summary: "Sign in a browser",
      description: "Takes the API key in key mode, and email and password in users mode; in both " +
        "also the code of a login at an identity provider, see `GET /auth/providers`, or a link " +
        "of the host's operator. The " +
        "refresh token is set as a cookie for `/auth/session`, whose name begins with " +
        "`__Secure-longshore-` (without TLS: `longshore-`), and scripts of the page get only the " +
        "access token. The cookie is accepted only with the same `X-Page-Secret`, because " +
        "browsers send cookies to every port of a host. Ends the earlier session of this secret. " +
        "Failures are counted as for `POST /auth/login`. An account with a second factor gets no " +
        "session yet, see `POST /auth/mfa`.",
      role: "public",
      assertBrowser: (request) => {
        assertSameOrigin(config, request);
        requirePageHash(request);
      },
      headers: PAGE_SECRET,
      body: Credentials,
      returns: z.union([BrowserSession, MfaRequired]).meta({ id: "SignInResult" }),
      ...SETS_COOKIE,
      failures: {
        401: "The API key, the email, the password, the code or the link is wrong",
        503: "Too many concurrent logins",
        ...FOREIGN_PAGE,
        ...THROTTLED,
      },
    }, async ({ body, caller, request, note, admit, rightsOf, setCookie }) => {
      if ("email" in body) note.target = loginName(deps, body.email);
      const pageHash = requirePageHash(request);
      const credentials = "code" in body
        ? { ...body, loginCookies: readLoginCookies(config, request, pageHash) }
        : body;
      const client = clientOf(caller, request);
      const pair = signInWithNote(note, await signIn(deps, credentials, client, admit, pageHash));
      if ("mfaRequired" in pair) return pair;
      setCookie(sessionCookie(deps, request, pageHash, pair));
      return { ...pair, ...rightsOf(pair.userId) };
    }),

    endpoint("POST /auth/session/refresh", {
      unaudited: true,
      operationId: "refreshBrowserSession",
      summary: "Refresh a browser session",
      description: "Returns a new access token and replaces the cookie. As with " +
        "`POST /auth/refresh`, an earlier cookie is accepted again for 10 seconds from the same " +
        "address, so that several tabs can refresh in parallel; afterwards its reuse ends the " +
        "session.",
      ...NEEDS_COOKIE,
      assertBrowser: assertCookieOfOwnPage,
      returns: BrowserSession,
      ...SETS_COOKIE,
    }, async ({ caller, request, note, admit, rightsOf, setCookie }) => {
      const presented = readSession(config, request);
      const { pageHash } = presented;
      let pair: TokenPair;
      try {
        const refreshed = refreshSession(deps, presented, caller.address, admit);
        pair = await renewalWithNote(note, refreshed);
      } catch (error) {
        if (error instanceof AppError && error.code === "unauthorized") {
          setCookie(expiredSessionCookie(config, request, pageHash));
        }
        throw error;
      }
      setCookie(sessionCookie(deps, request, pageHash, pair));
      return { ...pair, ...rightsOf(pair.userId) };
    }),

    endpoint("DELETE /auth/session", {
      operationId: "deleteSession",
      summary: "Sign out a browser",
      description: "Revokes the tokens of the session, ends its open streams, and deletes the " +
        "cookie. A page then goes to `logoutUrl`, if there is one.",
      ...NEEDS_COOKIE,
      assertBrowser: assertCookieOfOwnPage,
      returns: doneWith({
        logoutUrl: z.string().optional().meta({
          description: "Ends the session at the OpenID Connect provider as well, which sends the " +
            "browser back to the sign-in page",
        }),
      }).meta({ id: "SignedOut" }),
      replyHeaders: { "Set-Cookie": "Deletes the cookie" },
    }, async ({ caller, request, note, setCookie }) => {
      const presented = readSession(config, request);
      setCookie(expiredSessionCookie(config, request, presented.pageHash));
      const session = logoutSessionOf(deps, presented);
      note.actor = logOutBrowser(deps, presented, caller.address);
      const logoutUrl = session && await logoutUrlOf(deps, session, baseUrl(config, request));
      return { ...(logoutUrl !== undefined && { logoutUrl }) };
    }),
  ];
};

/** @throws {AppError} `invalid` without the page's secret. */
function requirePageHash(request: Request): string {
  const pageHash = pageHashOf(request);
  if (pageHash !== undefined) return pageHash;
  throw new AppError(
    "invalid",
    "The header X-Page-Secret is required: 32 random bytes as base64url without padding",
  );
}
