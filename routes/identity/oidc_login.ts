/** /auth/oidc: sign-in of browsers at an OpenID Connect provider. @module */

import * as z from "zod";
import { beginOidcLogin } from "../../services/access/oidc/requests.ts";
import { CALLBACK_PATH, ownCallbackPath } from "../../services/access/oidc/callback.ts";
import { completeOidcLogin } from "../../services/access/oidc/login.ts";
import { findOidcProvider } from "../../services/access/oidc/provider.ts";
import type { LoginNote } from "../../services/access/sign_in/login_browser.ts";
import type { Deps } from "../../services/deps.ts";
import { asAppError } from "../../services/errors.ts";
import { acceptLogoutToken } from "../../services/access/oidc/logout.ts";
import { endpoint, type Input, rawEndpoint } from "../contract/endpoint.ts";
import { Done } from "../contract/shapes.ts";
import { testEndPage } from "../html/sign_in_pages.ts";
import { clientOf } from "../pipeline/client.ts";
import { rateLimit } from "../pipeline/rate_limit.ts";
import { baseUrl } from "../pipeline/request_url.ts";
import {
  LIMIT_REFUSAL,
  LOGINS_PER_MINUTE,
  newLoginBrowser,
  PageHash,
  pageHeaders,
  redirectToPage,
  refusal,
  refuseBrowser,
  ReturnTo,
  signInThrough,
  throttled,
} from "./browser_login.ts";

/** The dashboard from `/auth/oidc/callback`: relative, for the path of a proxy. */
const ABOVE_CALLBACK = "../../";

const VALUE_MAX = 4_096;

const LOGOUT_TOKEN_MAX = 16_384;

/** Limit per client address: a provider sends one for each session. */
const LOGOUTS_PER_MINUTE = 600;

const Value = z.string().max(VALUE_MAX).optional();

const PUBLIC = {
  role: "public",
  anyAddress: true,
  ignoresUnknown: true,
  returns: z.string(),
} as const;

const CALLBACK = {
  ...PUBLIC,
  audited: true,
  actsOnGet: true,
  query: z.object({
    code: Value,
    state: Value,
    iss: Value.meta({ description: "The issuer (RFC 9207)" }),
    error: Value,
  }),
  produces: "text/html",
  replies: {
    303: {
      description: "Redirect to the sign-in page",
      headers: { Location: "Address of the page, with the code as its fragment" },
    },
    400: refusal("The query cannot be read"),
    401: refusal("The answer is rejected: state, issuer, code, signature, claims or times"),
    402: LIMIT_REFUSAL,
    403: refusal("The provider is disabled, or the user has no role or may not sign in"),
    502: refusal("The provider cannot be reached, or does not answer as it should"),
  },
  failures: throttled(LOGINS_PER_MINUTE),
} as const;

export const oidcLoginEndpoints = (deps: Deps) => {
  const loginLimit = rateLimit(LOGINS_PER_MINUTE, deps.now);
  const callbackLimit = rateLimit(LOGINS_PER_MINUTE, deps.now);
  const logoutLimit = rateLimit(LOGOUTS_PER_MINUTE, deps.now);
  const callback = { ...CALLBACK, throttle: callbackLimit.check };

  /** @param path Of the redirect URI. @param root The dashboard, relative to it. */
  const complete = async (
    { caller, request, note }: Pick<
      Input<unknown, unknown, unknown>,
      "caller" | "request" | "note"
    >,
    path: string,
    root: string,
  ) => {
    const signIn = `${root}sign-in`;
    const details: LoginNote = note;
    try {
      const answer = { query: new URL(request.url).searchParams, path };
      const login = await completeOidcLogin(deps, answer, clientOf(caller, request), details);
      if (login) return redirectToPage(signIn, login);
    } catch (error) {
      const known = asAppError(error);
      if (known) return refuseBrowser(deps, known, signIn, details.returnTo);
      throw error;
    }
    const { text, policy } = testEndPage(`${root}sso`);
    return new Response(text, { headers: pageHeaders(policy) });
  };

  return [
    // Before `/:id/login`, whose path is longer.
    rawEndpoint("GET /auth/oidc/callback", {
      operationId: "completeOidcLogin",
      summary: "Complete a sign-in",
      description: "The redirect URI. The code is exchanged for an ID token, whose signature, " +
        "issuer, audience, times and nonce are checked, and the browser goes on to the sign-in " +
        "page, which takes the code in its address to `POST /auth/session`. A refused sign-in " +
        "ends with a page that says why.",
      ...callback,
    }, (input) => complete(input, CALLBACK_PATH, ABOVE_CALLBACK)),

    rawEndpoint("GET /auth/oidc/:id/callback", {
      operationId: "completeOidcLoginOfProvider",
      summary: "Complete a provider's sign-in",
      description: "The redirect URI of one provider, see `callbackUrl` of `OidcProvider`; else " +
        "as `GET /auth/oidc/callback`. Each accepts only the sign-ins that began with it, so " +
        "that no provider can get the code of another one.",
      ...callback,
    }, (input) => complete(input, ownCallbackPath(input.params.id), `../${ABOVE_CALLBACK}`)),

    endpoint("POST /auth/oidc/backchannel-logout", {
      operationId: "endOidcSessions",
      summary: "End sessions for a provider",
      description: "Back-channel logout (OpenID Connect Back-Channel Logout 1.0): ends the " +
        "sessions that the provider's signed token names.",
      role: "public",
      anyAddress: true,
      ignoresUnknown: true,
      throttle: logoutLimit.check,
      form: z.object({
        logout_token: z.string().min(1).max(LOGOUT_TOKEN_MAX).meta({ description: "JWT" }),
      }).meta({
        id: "LogoutTokenForm",
        example: { logout_token: "eyJhbGciOiJFUzI1NiJ9.e30.c2ln" },
      }),
      returns: Done,
      failures: {
        401: "The logout token is not valid",
        502: "The provider's keys cannot be read",
        ...throttled(LOGOUTS_PER_MINUTE),
      },
    }, ({ body }) => acceptLogoutToken(deps, body.logout_token)),

    rawEndpoint("GET /auth/oidc/:id/login", {
      operationId: "beginOidcLogin",
      summary: "Start a sign-in",
      description: "For browsers: redirects to the provider, or without `page` to the sign-in " +
        "page, which begins the sign-in. It has to end within 15 minutes.",
      ...PUBLIC,
      throttle: loginLimit.check,
      query: z.object({
        returnTo: ReturnTo.default("/").meta({
          description: "A path of the dashboard, where the sign-in ends",
          example: "/containers",
        }),
        page: PageHash.optional(),
      }),
      produces: "text/html",
      status: 302,
      replyHeaders: { Location: "Address of the provider, or of the sign-in page" },
      failures: {
        404: "The identity provider does not exist",
        ...throttled(LOGINS_PER_MINUTE),
      },
      replies: {
        403: refusal("The identity provider is disabled, or this server is in key mode"),
        502: refusal("The provider cannot be reached, or does not answer as it should"),
      },
    }, async ({ caller, params, query: { page, returnTo }, request, setCookie }) => {
      const signIn = `../${ABOVE_CALLBACK}sign-in`;
      const redirect = (location: string) => ({ status: 302, headers: { location }, body: null });
      if (page === undefined) {
        const { id } = findOidcProvider(deps, params.id);
        return redirect(signInThrough(signIn, id, returnTo));
      }
      const { browser, cookie } = newLoginBrowser(deps, request, { pageHash: page, returnTo });
      try {
        const url = await beginOidcLogin(
          deps,
          params.id,
          { baseUrl: baseUrl(deps.config, request), address: caller.address },
          browser,
        );
        setCookie(cookie);
        return redirect(url);
      } catch (error) {
        const known = asAppError(error);
        if (known && known.code !== "not_found") {
          return refuseBrowser(deps, known, signIn, returnTo);
        }
        throw error;
      }
    }),
  ];
};
