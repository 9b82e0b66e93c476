/** /auth/mfa and /auth/passkey: the second step of a sign-in, and sign-in with a passkey. @module */

import * as z from "zod";
import { requireRelyingParty } from "../../services/access/factors/relying_party.ts";
import {
  completeWithPasskey,
  signInOptions,
  signInWithPasskey,
} from "../../services/access/sign_in/passkeys.ts";
import { completeSecondStep } from "../../services/access/sign_in/second_step.ts";
import type { TokenPair as Tokens } from "../../services/access/sign_in/sessions.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint, type Input } from "../contract/endpoint.ts";
import { clientOf } from "../pipeline/client.ts";
import { baseUrl } from "../pipeline/request_url.ts";
import { assertSameOrigin, pageHashOf, sessionCookie } from "../pipeline/session_cookie.ts";
import { BrowserSession, THROTTLED, TokenPair } from "../users/login.ts";
import { RequestOptions, UseCredential } from "./credentials.ts";
import { Code, RecoveryCode } from "./shapes.ts";

const mfaToken = z.string().min(1).max(512);

const SecondFactor = z.union([
  z.strictObject({ mfaToken, code: Code }),
  z.strictObject({ mfaToken, recoveryCode: RecoveryCode }),
  z.strictObject({ mfaToken, passkey: UseCredential }),
]).meta({ id: "SecondFactor" });

const PUBLIC = {
  role: "public",
  headers: { "X-Page-Secret": "See `POST /auth/session`" },
} as const;

const FOREIGN = { 403: "The request is from another origin" };

const NO_PASSKEYS = { 409: "The service has neither HTTPS nor a host name" };

export const secondFactorEndpoints = (deps: Deps) => {
  const { config } = deps;

  /** Pages of other origins may use tokens, but not the session of a page. */
  const assertBrowser = (request: Request) => {
    if (pageHashOf(request) !== undefined) assertSameOrigin(config, request);
  };

  const browserOf = (request: Request) => ({
    pageHash: pageHashOf(request) ?? null,
    party: requireRelyingParty(baseUrl(config, request)),
  });

  /** Sets the cookie of a page; other clients get the tokens. */
  const answer = (
    pair: Tokens,
    { request, rightsOf, setCookie }: Pick<
      Input<never, never, never>,
      "request" | "rightsOf" | "setCookie"
    >,
  ) => {
    const pageHash = pageHashOf(request);
    if (pageHash === undefined) return pair;
    setCookie(sessionCookie(deps, request, pageHash, pair));
    const { refreshToken: _, ...session } = pair;
    return { ...session, ...rightsOf(session.userId) };
  };

  return [
    endpoint("POST /auth/mfa", {
      operationId: "completeSignIn",
      summary: "Prove a second factor",
      description: "Takes the `mfaToken` of `POST /auth/login` or `POST /auth/session` with a " +
        "code of the authenticator app, a recovery code, or a passkey. It answers tokens after " +
        "the former, and sets the cookie after the latter, for which `X-Page-Secret` must be " +
        "the same. A code is accepted once. Wrong ones are counted per address and per account, " +
        "apart from passwords: 10 in a minute and 30 in an hour.",
      ...PUBLIC,
      assertBrowser,
      body: SecondFactor,
      returns: z.union([TokenPair, BrowserSession]).meta({ id: "CompletedSignIn" }),
      replyHeaders: { "Set-Cookie": "The refresh token, with `X-Page-Secret`" },
      failures: {
        401: "The factor is wrong or was used, or the sign-in has ended or was begun elsewhere",
        ...FOREIGN,
        ...THROTTLED,
      },
    }, async ({ body, admit, ...input }) => {
      const { caller, request } = input;
      const client = clientOf(caller, request);
      const pair = "passkey" in body
        ? await completeWithPasskey(deps, body, client, browserOf(request), admit)
        : await completeSecondStep(deps, body, client, {
          pageHash: pageHashOf(request) ?? null,
          admit,
        });
      return answer(pair, input);
    }),

    endpoint(
      "POST /auth/passkey/options",
      {
        unaudited: true,
        operationId: "getPasskeyRequestOptions",
        summary: "Get options to use a passkey",
        description: "For `PublicKeyCredential.parseRequestOptionsFromJSON()`. With `mfaToken`, " +
          "they are for the second step of that sign-in and list the passkeys of its account. " +
          "Without it they are for `POST /auth/passkey` of this page, and name no account. The " +
          "challenge is valid for 5 minutes and once.",
        ...PUBLIC,
        assertBrowser,
        body: z.object({ mfaToken: mfaToken.optional() }).meta({
          id: "PasskeyRequest",
          example: { mfaToken: "q8X0kz1d6bMZyJmC4nQf2uV7sT9wE3rA5gH1jK6lP0o" },
        }),
        returns: RequestOptions,
        failures: {
          401: "The sign-in has ended or was begun elsewhere",
          404: "Users mode is off",
          ...FOREIGN,
          ...NO_PASSKEYS,
          ...THROTTLED,
        },
      },
      ({ body, caller, request }) =>
        signInOptions(deps, body.mfaToken, clientOf(caller, request), browserOf(request)),
    ),

    endpoint("POST /auth/passkey", {
      operationId: "signInWithPasskey",
      summary: "Sign in with a passkey",
      description: "For pages: takes what the browser made of `POST /auth/passkey/options`, and " +
        "sets the cookie like `POST /auth/session`. The authenticator must have recognized its " +
        "user, e.g. by PIN or fingerprint, so that no second factor is needed. Accounts that sign " +
        "in only at an identity provider are refused: their passkeys are second factors.",
      ...PUBLIC,
      assertBrowser: (request) => assertSameOrigin(config, request),
      body: z.object({ credential: UseCredential }).meta({ id: "PasskeyLogin" }),
      returns: BrowserSession,
      replyHeaders: { "Set-Cookie": "The refresh token" },
      failures: {
        401: "The passkey is unknown or not valid for the options, or they were used",
        403: "The request is from another origin, or the account signs in at a provider only",
        404: "Users mode is off",
        ...NO_PASSKEYS,
        ...THROTTLED,
      },
    }, async ({ body: { credential }, admit, ...input }) => {
      const { caller, request } = input;
      const client = clientOf(caller, request);
      const pair = await signInWithPasskey(deps, credential, client, browserOf(request), admit);
      return answer(pair, input) as z.input<typeof BrowserSession>;
    }),
  ];
};
