/**
 * /sso/metadata, /sso/login, /sso/acs: login with an identity provider. Browsers arrive without a
 * token and from any address.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../../services/deps.ts";
import { describeServiceProvider } from "../../../services/enterprise/sso/service_provider.ts";
import { acceptAssertion } from "../../../services/enterprise/sso/login.ts";
import { getProvider } from "../../../services/enterprise/sso/providers.ts";
import { beginLogin } from "../../../services/enterprise/sso/requests.ts";
import { baseUrl } from "../../pipeline/request_url.ts";
import { clientOf } from "../../pipeline/client.ts";
import { endpoint, rawEndpoint, type RawResponse } from "../../contract/endpoint.ts";
import { signInFormPage } from "../../html/sign_in_pages.ts";
import { rateLimit } from "../../pipeline/rate_limit.ts";
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
} from "../../identity/browser_login.ts";
import { MfaRequired, signInWithNote } from "../../users/login.ts";

/** Limit per client address. */
const ACS_PER_MINUTE = 10;

const RELAY_STATE_MAX = 2_048;

/** The sign-in page, from `/sso/acs`: relative, so that it works below a path of a proxy. */
const SIGN_IN = "../../../../sign-in";

/** 256 KiB as base64 in lines. */
const SAML_RESPONSE_MAX = 400_000;

/** Base64 has characters that forms encode with three. */
const ACS_BODY_BYTES_MAX = 1024 * 1024;

const RelayState = z.string().max(RELAY_STATE_MAX);

const LoginQuery = z.object({
  relay_state: RelayState.optional().meta({
    description: "Returned by `POST /sso/acs` unchanged; never used as a redirect",
  }),
  RelayState: RelayState.optional().meta({ description: "Same as `relay_state`" }),
  return_to: ReturnTo.optional().meta({
    description: "A path of the dashboard. The login then ends there, with a session of the " +
      "browser instead of tokens. Without `page`, the sign-in page begins it",
    example: "/containers",
  }),
  page: PageHash.optional(),
});

const AcsForm = z.object({
  SAMLResponse: z.string().min(1).max(SAML_RESPONSE_MAX).meta({ description: "Base64" }),
  RelayState: RelayState.optional(),
}).meta({
  id: "SamlResponseForm",
  example: { SAMLResponse: "PHNhbWxwOlJlc3BvbnNlIC4uLg==", RelayState: "dashboard" },
});

const SsoLogin = z.object({
  accessToken: z.string().meta({ description: "JWT for the Authorization header" }),
  refreshToken: z.string().meta({ description: "For /auth/refresh, until the session ends" }),
  expiresIn: z.int().meta({ description: "Seconds until the access token ends", example: 900 }),
  role: z.enum(["viewer", "operator", "admin"]),
  serverName: z.string(),
  sessionId: z.string(),
  user: z.object({
    id: z.string(),
    email: z.string(),
    role: z.enum(["viewer", "operator", "admin"]),
    name: z.string().nullable().meta({ description: "Name from the identity provider" }),
  }),
  relayState: z.string().optional(),
}).meta({ id: "SsoLogin" });

const PUBLIC = { role: "public", anyAddress: true } as const;

export const ssoLoginEndpoints = (deps: Deps) => {
  const loginLimit = rateLimit(LOGINS_PER_MINUTE, deps.now);
  const acsLimit = rateLimit(ACS_PER_MINUTE, deps.now);

  return [
    rawEndpoint("GET /sso/metadata", {
      operationId: "getSamlMetadata",
      summary: "Get SAML service provider metadata",
      description: "XML with the entity id, the ACS URL and the name id format, for the identity " +
        "provider. The URLs begin with `SERVICE_BASE_URL`, or else with the address of the " +
        "request.",
      ...PUBLIC,
      produces: "application/samlmetadata+xml",
      returns: z.string(),
    }, async ({ request }) => {
      const text = await describeServiceProvider(deps, baseUrl(deps.config, request));
      return respond(200, text, { "content-type": "application/samlmetadata+xml; charset=utf-8" });
    }),

    rawEndpoint("GET /sso/login/:id", {
      operationId: "beginSsoLogin",
      summary: "Start an SSO login",
      description:
        "For browsers. Depending on the provider's `binding`, the response is a redirect to the " +
        "identity provider (302) or a page that submits a form to it (200).",
      ...PUBLIC,
      throttle: loginLimit.check,
      query: LoginQuery,
      ignoresUnknown: true,
      produces: "text/html",
      returns: z.string(),
      replies: {
        302: {
          description: "Redirect to the identity provider, or to the sign-in page",
          headers: { Location: "Address of the identity provider or of the page" },
        },
      },
      failures: {
        403: "The identity provider is disabled",
        404: "The identity provider does not exist",
        ...throttled(LOGINS_PER_MINUTE),
      },
    }, async ({ caller, params, query, request, setCookie }) => {
      const { return_to: returnTo, relay_state: relayState = query.RelayState } = query;
      const { page: pageHash } = query;
      if (returnTo !== undefined && pageHash === undefined) {
        const { id } = getProvider(deps, params.id);
        return respond(302, null, { location: signInThrough(`../${SIGN_IN}`, id, returnTo) });
      }
      const login = returnTo === undefined || pageHash === undefined
        ? undefined
        : newLoginBrowser(deps, request, { pageHash, returnTo });
      const from = { address: caller.address, relayState };
      const redirect = await beginLogin(deps, params.id, from, login?.browser);
      if (login) setCookie(login.cookie);
      if (redirect.kind === "redirect") return respond(302, null, { location: redirect.url });
      const { text, policy } = signInFormPage(redirect);
      return respond(200, text, pageHeaders(policy));
    }),

    endpoint("POST /sso/acs", {
      operationId: "completeSsoLogin",
      summary: "Complete an SSO login",
      description:
        "The SAML assertion consumer service. The signature is verified with the provider's " +
        "stored certificates, and only signed content is used. Each assertion is accepted " +
        "once. Users are found by email; see `auto_provision` and `link_existing` of the " +
        "provider. The session and its tokens end at SessionNotOnOrAfter, or else after 8 " +
        "hours. An account with a second factor gets no tokens yet, see `POST /auth/mfa`, unless " +
        "the provider's authentication context says that several factors were used. A login that began with `return_to` ends with a redirect to the sign-in page, " +
        "which takes the code in its address to `POST /auth/session`, or with a page that says " +
        "why it was refused.",
      ...PUBLIC,
      throttle: acsLimit.check,
      form: AcsForm,
      bodyBytesMax: ACS_BODY_BYTES_MAX,
      ignoresUnknown: true,
      returns: z.union([SsoLogin, MfaRequired]).meta({ id: "SsoLoginResult" }),
      replies: {
        303: {
          description: "Redirect of a browser to the sign-in page",
          headers: { Location: "Address of the page, with the code as its fragment" },
        },
        400: refusal("The form or the message cannot be read"),
        401: refusal(
          "The message is rejected: issuer, signature, conditions, missing request or replay",
        ),
        402: LIMIT_REFUSAL,
        403: refusal("The provider is disabled, or the user is not allowed to log in"),
      },
      failures: throttled(ACS_PER_MINUTE),
    }, async ({ body, caller, request, note }) => {
      const { SAMLResponse: samlResponse, RelayState: relayState } = body;
      const message = { samlResponse, relayState };
      const client = clientOf(caller, request);
      const login = signInWithNote(note, await acceptAssertion(deps, message, client, note));
      if ("refusal" in login) {
        return refuseBrowser(deps, login.refusal, SIGN_IN, login.returnTo);
      }
      if (!("code" in login)) return login;
      return redirectToPage(SIGN_IN, login);
    }),
  ];
};

const encoder = new TextEncoder();

function respond(
  status: number,
  text: string | null,
  headers: Record<string, string>,
): RawResponse {
  return { status, headers, body: text === null ? null : encoder.encode(text) };
}
