/**
 * /sso/metadata, /sso/login, /sso/acs: how somebody logs in by an identity provider. They are for
 * browsers that come from there, so none asks for a token and each answers every address.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { describeServiceProvider } from "../../services/enterprise/service_provider.ts";
import { acceptAssertion } from "../../services/enterprise/sso_login.ts";
import { beginLogin } from "../../services/enterprise/sso_requests.ts";
import { baseUrl } from "../base_url.ts";
import { endpoint, type RawAnswer, rawEndpoint } from "../endpoint.ts";
import { rateLimit } from "../rate_limit.ts";
import { IdParams } from "../shapes.ts";
import { ssoLoginPage } from "./sso_login_page.ts";

/** Per client address and minute; the specification's. */
const ACS_PER_MINUTE = 10;

/** Each stores a request. */
const LOGINS_PER_MINUTE = 30;

const RELAY_STATE_MAX = 2_048;

/** 256 KiB as base64 in lines. */
const SAML_RESPONSE_MAX = 400_000;

const RelayState = z.string().max(RELAY_STATE_MAX);

const LoginQuery = z.object({
  relay_state: RelayState.optional().meta({
    description: "Comes back with the answer of `POST /sso/acs`; nobody is ever sent there",
  }),
  RelayState: RelayState.optional().meta({ description: "The same by its SAML name" }),
});

const AcsForm = z.object({
  SAMLResponse: z.string().min(1).max(SAML_RESPONSE_MAX).meta({ description: "Base64" }),
  RelayState: RelayState.optional(),
}).meta({ example: { SAMLResponse: "PHNhbWxwOlJlc3BvbnNlIC4uLg==", RelayState: "dashboard" } });

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
    name: z.string().nullable().meta({ description: "As the identity provider gives it" }),
  }),
  relayState: z.string().optional(),
});

const TOO_OFTEN = (perMinute: number) => ({
  429: `More than ${perMinute} requests in a minute from one address; see Retry-After`,
});

const PUBLIC = { role: "public", anyAddress: true } as const;

export const ssoLoginEndpoints = (deps: Deps) => {
  const logins = rateLimit(LOGINS_PER_MINUTE, deps.now);
  const answers = rateLimit(ACS_PER_MINUTE, deps.now);

  return [
    rawEndpoint({
      method: "get",
      path: "/sso/metadata",
      summary: "Show the service provider's metadata",
      description: "For the identity provider: entity id, ACS URL and kind of name, as XML. The " +
        "addresses begin with `SERVICE_BASE_URL`, else with what the request was sent to.",
      ...PUBLIC,
      produces: "application/samlmetadata+xml",
      returns: z.string(),
    }, async ({ request }) => {
      const text = await describeServiceProvider(deps, baseUrl(deps.config, request));
      return answer(200, text, { "content-type": "application/samlmetadata+xml; charset=utf-8" });
    }),

    rawEndpoint({
      method: "get",
      path: "/sso/login/:id",
      summary: "Log in by an identity provider",
      description:
        "For a browser: it is sent to the identity provider (302), or gets a page that " +
        "sends it there (200), as the provider's `binding` says.",
      ...PUBLIC,
      params: IdParams,
      query: LoginQuery,
      produces: "text/html",
      returns: z.string(),
      failures: {
        302: "To the identity provider",
        403: "The identity provider is disabled",
        404: "There is no such identity provider",
        ...TOO_OFTEN(LOGINS_PER_MINUTE),
      },
    }, async ({ params, query, caller }) => {
      logins.check(caller.address);
      const relayState = query.relay_state ?? query.RelayState;
      const redirect = await beginLogin(deps, params.id, relayState);
      if (redirect.kind === "redirect") return answer(302, null, { location: redirect.url });
      const { text, policy } = ssoLoginPage(redirect);
      return answer(200, text, {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": policy,
      });
    }),

    endpoint({
      method: "post",
      path: "/sso/acs",
      summary: "Log in with an identity provider's assertion",
      description:
        "The assertion consumer service. The signature is checked with the provider's stored " +
        "certificate, and only what it covers is read. Each assertion is good once. Users are " +
        "found by email; see `auto_provision` and `link_existing` of the provider. The session " +
        "ends when the identity provider says (SessionNotOnOrAfter), else after 8 hours, and its " +
        "tokens with it.",
      ...PUBLIC,
      form: AcsForm,
      returns: SsoLogin,
      failures: {
        400: "The form or the message cannot be read",
        401: "The message proves nothing: issuer, signature, conditions, reply or replay; the " +
          "error says which",
        402: "The user would have to be created, and the license allows no more",
        403: "The provider is disabled, or this user may not come in; the error says why",
        ...TOO_OFTEN(ACS_PER_MINUTE),
      },
    }, ({ body, caller, note }) => {
      answers.check(caller.address);
      const { SAMLResponse: samlResponse, RelayState: relayState } = body;
      return acceptAssertion(deps, { samlResponse, relayState }, caller.address, note);
    }),
  ];
};

const encoder = new TextEncoder();

function answer(status: number, text: string | null, headers: Record<string, string>): RawAnswer {
  return { status, headers, body: text === null ? null : encoder.encode(text) };
}
