/** /api/identity/oidc: OpenID Connect providers. @module */

import * as z from "zod";
import { USER_ROLES } from "../../services/access/caller.ts";
import {
  changeOidcProvider,
  createOidcProvider,
  getOidcProvider,
  listOidcProviders,
  removeOidcProvider,
} from "../../services/access/oidc/providers.ts";
import { readTest, testProvider } from "../../services/access/oidc/test.ts";
import { OIDC_PROVIDERS_MAX, OIDC_SCOPES, SESSION_HOURS } from "../../services/config/oidc.ts";
import type { Deps } from "../../services/deps.ts";
import { REDACTED } from "../../services/text/redact.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, Name, oneLine, Timestamp } from "../contract/shapes.ts";
import { baseUrl } from "../pipeline/request_url.ts";

const ISSUER_MAX = 2_048;
const ID_MAX = 512;
const SECRET_MAX = 1_024;
const CLAIM_MAX = 256;
const VALUE_MAX = 512;
const ROLE_MAP_MAX = 200;
const LIST_MAX = 50;

const Role = z.enum(USER_ROLES);

const GroupRole = z.strictObject({
  value: oneLine(VALUE_MAX).meta({ description: "A value of the claim, e.g. a group" }),
  role: oneLine(100).meta({
    description: "`viewer`, `operator` or `admin`; with Enterprise also the name of a custom role",
    example: "operator",
  }),
}).meta({ id: "GroupRole" });

const fields = {
  name: Name,
  issuer: z.string().min(1).max(ISSUER_MAX).meta({
    description: "The issuer, exactly as the provider names itself: https, or http on this host. " +
      "Discovery begins at `/.well-known/openid-configuration` below it",
  }),
  clientId: oneLine(ID_MAX),
  clientSecret: z.string().min(1).max(SECRET_MAX).nullable().meta({
    description: `\`null\` for a public client. Responses have \`${REDACTED}\`, which keeps the ` +
      "stored one when it is sent back",
  }),
  scopes: z.string().max(500).regex(/^[!-~]+( [!-~]+)*$/, {
    error: "must be words separated by single spaces",
  }).meta({ description: "Must contain `openid`" }),
  rolesClaim: oneLine(CLAIM_MAX).nullable().meta({
    description: "Claim with the user's groups, as a list or a text, from the ID token or the " +
      "userinfo endpoint. A claim of exactly this name wins over a path such as " +
      "`realm_access.roles`. With it, roles are set at each sign-in and refresh",
  }),
  roleMap: z.array(GroupRole).max(ROLE_MAP_MAX).meta({
    description: "Roles of the values of `rolesClaim`. The highest of several built-in roles " +
      "counts, and all custom ones",
  }),
  defaultRole: Role.nullable().meta({
    description: "Role of users without a match; `null` refuses them",
  }),
  allowedDomains: z.array(
    z.string().max(253).regex(/^[^\s@\p{C}]+$/u, {
      error: "must be a domain such as example.com",
    }),
  ).max(LIST_MAX).meta({
    description: "Only verified addresses of these domains may sign in; exact, in any case. " +
      "Empty for all",
  }),
  mfaAcr: z.array(oneLine(VALUE_MAX)).max(LIST_MAX).meta({
    description: "Values of the `acr` claim that mean several factors, which are requested as " +
      "`acr_values`. An `amr` with `mfa` always counts",
  }),
  sessionHours: z.int().min(SESSION_HOURS.min).max(SESSION_HOURS.max).meta({
    description: "Hours after which users sign in again",
  }),
  autoProvision: z.boolean().meta({ description: "Create users that do not exist" }),
  linkByVerifiedEmail: z.boolean().meta({
    description: "Sign in existing users whose address is the same, if the provider says that it " +
      "has verified the address (`email_verified`)",
  }),
  enabled: z.boolean(),
};

const EXAMPLE = {
  name: "Acme",
  issuer: "https://id.example.com/realms/acme",
  clientId: "longshore",
  clientSecret: "k8s-is-not-needed-here",
  rolesClaim: "groups",
  roleMap: [{ value: "ops", role: "operator" }, { value: "admins", role: "admin" }],
};

const NewProvider = z.object({
  ...fields,
  clientSecret: fields.clientSecret.default(null),
  scopes: fields.scopes.default(OIDC_SCOPES),
  rolesClaim: fields.rolesClaim.default(null),
  roleMap: fields.roleMap.default([]),
  defaultRole: fields.defaultRole.default(null),
  allowedDomains: fields.allowedDomains.default([]),
  mfaAcr: fields.mfaAcr.default([]),
  sessionHours: fields.sessionHours.default(SESSION_HOURS.default),
  autoProvision: fields.autoProvision.default(true),
  linkByVerifiedEmail: fields.linkByVerifiedEmail.default(false),
  enabled: fields.enabled.default(true),
}).meta({ id: "NewOidcProvider", example: EXAMPLE });

const ProviderChange = z.object(fields).partial().meta({
  id: "OidcProviderChanges",
  example: { defaultRole: "viewer" },
});

const Provider = z.object({
  id: z.string(),
  ...fields,
  readOnly: z.boolean().meta({ description: "Set by environment variables (`OIDC_ISSUER` …)" }),
  callbackUrl: z.string().meta({
    description: "The redirect URI to enter at the provider. It is `/auth/oidc/callback` for the " +
      "first provider and for others that name their issuer in answers (RFC 9207, found out by " +
      "discovery when the provider is created), and else the provider's own",
  }),
  backchannelLogoutUrl: z.string().meta({ description: "Receives the provider's logout tokens" }),
  createdAt: Timestamp,
  updatedAt: Timestamp,
}).meta({ id: "OidcProvider" });

const Test = z.object({
  ok: z.literal(true),
  issuer: z.string(),
  endpoints: z.object({
    authorization: z.string(),
    token: z.string(),
    userinfo: z.string().nullable(),
    jwks: z.string(),
    endSession: z.string().nullable(),
  }),
  keys: z.int().meta({ description: "Number of published keys" }),
  url: z.string().meta({
    description: "A sign-in for the browser of the caller. It starts no session",
  }),
}).meta({ id: "OidcTest" });

const TestResult = z.object({
  at: Timestamp,
  error: z.string().nullable().meta({ description: "Why the sign-in failed" }),
  claims: z.record(z.string(), z.unknown()),
  role: Role.nullable().meta({ description: "The role that the claims give; `null` for none" }),
  customRoles: z.array(z.string()),
  secondFactor: z.boolean().meta({ description: "Whether several factors were used" }),
}).meta({ id: "OidcTestResult" });

const READ = { role: "admin", permission: "sso:read" } as const;
/** An identity provider can sign in as any user, so that no custom role allows to choose it. */
const WRITE = { role: "admin", loginOnly: true } as const;
const UNKNOWN = { 404: "The identity provider does not exist" };
const READ_ONLY = { 409: "The identity provider is set by environment variables" };

export const oidcProviderEndpoints = (deps: Deps) => [
  endpoint("GET /api/identity/oidc", {
    operationId: "listOidcProviders",
    summary: "List OpenID Connect providers",
    description: "Those of the environment, then the others by name.",
    ...READ,
    returns: z.array(Provider).meta({ id: "OidcProviderList" }),
  }, ({ request }) => listOidcProviders(deps, baseUrl(deps.config, request))),

  endpoint(
    "POST /api/identity/oidc",
    {
      operationId: "createOidcProvider",
      summary: "Create an OpenID Connect provider",
      description: `At most ${OIDC_PROVIDERS_MAX}. Its users sign in in users mode only.`,
      ...WRITE,
      body: NewProvider,
      returns: Provider,
      status: 201,
      failures: { 409: "There are too many identity providers" },
    },
    ({ body, request }) => createOidcProvider(deps, body, baseUrl(deps.config, request)),
  ),

  endpoint(
    "GET /api/identity/oidc/:id",
    {
      operationId: "getOidcProvider",
      summary: "Get an OpenID Connect provider",
      ...READ,
      returns: Provider,
      failures: UNKNOWN,
    },
    ({ params, request }) => getOidcProvider(deps, params.id, baseUrl(deps.config, request)),
  ),

  endpoint(
    "PUT /api/identity/oidc/:id",
    {
      operationId: "updateOidcProvider",
      summary: "Update an OpenID Connect provider",
      description: "Omitted fields keep their values, and `null` clears a field. Disabling it or " +
        "changing the issuer ends its sessions.",
      ...WRITE,
      body: ProviderChange,
      returns: Provider,
      failures: { ...UNKNOWN, ...READ_ONLY },
    },
    ({ params, body, request }) =>
      changeOidcProvider(deps, params.id, body, baseUrl(deps.config, request)),
  ),

  endpoint("DELETE /api/identity/oidc/:id", {
    operationId: "deleteOidcProvider",
    summary: "Delete an OpenID Connect provider",
    description: "Ends its sessions. Its users are kept, and find their accounts again if a " +
      "provider with the same issuer is created.",
    ...WRITE,
    returns: Done,
    failures: { ...UNKNOWN, ...READ_ONLY },
  }, ({ params }) => removeOidcProvider(deps, params.id)),

  endpoint(
    "POST /api/identity/oidc/:id/test",
    {
      operationId: "testOidcProvider",
      summary: "Test an OpenID Connect provider",
      description:
        "Reads the provider's metadata and keys. The sign-in at `url` is then shown by " +
        "`GET /api/identity/oidc/:id/test` to the same admin.",
      ...WRITE,
      returns: Test,
      failures: { ...UNKNOWN, 502: "The provider cannot be reached or does not work" },
    },
    ({ params, caller, request }) =>
      testProvider(deps, caller, params.id, baseUrl(deps.config, request)),
  ),

  endpoint("GET /api/identity/oidc/:id/test", {
    operationId: "getOidcTest",
    summary: "Get the received claims",
    description: "Those of the caller's last test sign-in, for 15 minutes.",
    ...WRITE,
    returns: TestResult,
    failures: { 404: "The provider does not exist, or there was no test sign-in" },
  }, ({ params, caller }) => readTest(deps, caller, params.id)),
];
