/** /sso/providers: identity providers for single sign-on. @module */

import * as z from "zod";
import { USER_ROLES } from "../../../services/access/caller.ts";
import type { Deps } from "../../../services/deps.ts";
import { IDP_CERTIFICATES_MAX } from "../../../services/enterprise/saml/certificate.ts";
import { PEM_MAX } from "../../../services/enterprise/mtls/certificates.ts";
import {
  changeProvider,
  createProvider,
  ENTITY_ID_MAX,
  getProvider,
  listProviders,
  PROVIDERS_MAX,
  removeProvider,
  setProviderEnabled,
  SSO_BINDINGS,
  SSO_URL_MAX,
} from "../../../services/enterprise/sso/providers.ts";
import { baseUrl } from "../../pipeline/request_url.ts";
import { endpoint } from "../../contract/endpoint.ts";
import { Done, oneLine, Timestamp, ToggleBody } from "../../contract/shapes.ts";

const NAME_MAX = 100;
const ATTRIBUTE_MAX = 256;

/** SAML names are compared exactly, and a trailing space would not be visible. */
const identifier = (max: number) =>
  z.string().min(1).max(max).regex(/^[^\s\p{C}]+$/u, {
    error: "must not contain spaces or control characters",
  });

const Address = z.string().min(1).max(SSO_URL_MAX);

const fields = {
  name: oneLine(NAME_MAX),
  entity_id: identifier(ENTITY_ID_MAX).meta({
    description: "Entity id of the identity provider: the issuer of its messages",
  }),
  sso_url: Address.meta({
    description: "Login URL of the identity provider: https, or http on this host",
  }),
  slo_url: Address.nullable().meta({
    description: "Logout URL. It is stored, but logouts are not sent",
  }),
  certificate: z.string().min(1).max(PEM_MAX).meta({
    description:
      `Signing certificates as PEM, at most ${IDP_CERTIFICATES_MAX}: RSA of at least 2048 bits, ` +
      "or the curve P-256, P-384 or P-521. Several are accepted while the identity provider " +
      "changes its key. Its metadata (XML) can be sent instead: all signing certificates in it " +
      "are stored",
  }),
  binding: z.enum(SSO_BINDINGS).meta({ description: "Binding of requests to `sso_url`" }),
  name_id_format: z.string().min(1).max(ATTRIBUTE_MAX)
    .regex(/^urn:[!-~]+$/, { error: "must be a URN" }).nullable().meta({
      description:
        "Requested NameID format. With persistent names, users are found by name before " +
        "email",
    }),
  attribute_mapping: z.strictObject({
    email: identifier(ATTRIBUTE_MAX).optional(),
    name: oneLine(ATTRIBUTE_MAX).optional(),
  }).meta({ description: "Names of the attributes for email and name" }),
  auto_provision: z.boolean().meta({
    description: "Create users that do not exist",
  }),
  default_role: z.enum(USER_ROLES).meta({ description: "Role of created users" }),
  allow_unsolicited: z.boolean().meta({
    description: "Accept logins that were started at the identity provider",
  }),
  link_existing: z.boolean().meta({
    description: "Allow logins of existing users, except those of another provider",
  }),
  enabled: z.boolean(),
};

const EXAMPLE = {
  name: "Acme",
  entity_id: "https://idp.example.com/metadata",
  sso_url: "https://idp.example.com/sso",
  certificate: "-----BEGIN CERTIFICATE-----\nMIIDazCCAlOgAwIB...\n-----END CERTIFICATE-----\n",
  binding: "HTTP-POST",
  name_id_format: "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress",
  attribute_mapping: { email: "email", name: "displayName" },
  auto_provision: true,
  default_role: "viewer",
};

const NewProvider = z.object({
  ...fields,
  slo_url: fields.slo_url.default(null),
  binding: fields.binding.default("HTTP-POST"),
  name_id_format: fields.name_id_format.default(null),
  attribute_mapping: fields.attribute_mapping.default({}),
  auto_provision: fields.auto_provision.default(false),
  default_role: fields.default_role.default("viewer"),
  allow_unsolicited: fields.allow_unsolicited.default(true),
  link_existing: fields.link_existing.default(false),
  enabled: fields.enabled.default(true),
}).meta({ id: "NewIdentityProvider", example: EXAMPLE });

const ProviderChange = z.object(fields).partial().meta({
  id: "IdentityProviderChanges",
  example: { default_role: "operator" },
});

const Provider = z.object({
  id: z.string(),
  ...fields,
  sp_entity_id: z.string().meta({
    description: "Entity id of this service (audience)",
  }),
  acs_url: z.string().meta({ description: "Destination of assertions" }),
  created_at: Timestamp,
  updated_at: Timestamp,
}).meta({ id: "IdentityProvider" });

const READ = { role: "admin", permission: "sso:read" } as const;
const WRITE = { role: "admin", permission: "sso:write" } as const;
const UNKNOWN = { 404: "The identity provider does not exist" };
const ADMIN =
  "Requires the built-in role admin, because an identity provider can log in as any user.";
const BASE =
  "Without `SERVICE_BASE_URL`, the entity id and the ACS URL begin with the address of " +
  "this request.";

export const ssoProviderEndpoints = (deps: Deps) => [
  endpoint("GET /sso/providers", {
    operationId: "listIdentityProviders",
    summary: "List identity providers",
    description: "Sorted by name.",
    ...READ,
    returns: z.object({ providers: z.array(Provider) }).meta({ id: "IdentityProviderList" }),
  }, () => listProviders(deps)),

  endpoint("GET /sso/providers/:id", {
    operationId: "getIdentityProvider",
    summary: "Get an identity provider",
    ...READ,
    returns: Provider,
    failures: UNKNOWN,
  }, ({ params }) => getProvider(deps, params.id)),

  endpoint(
    "POST /sso/providers",
    {
      operationId: "createIdentityProvider",
      loginOnly: true,
      summary: "Create an identity provider",
      description: `${ADMIN} ${BASE} At most ${PROVIDERS_MAX} identity providers.`,
      ...WRITE,
      body: NewProvider,
      returns: Provider,
      status: 201,
      failures: { 409: "Another identity provider has this entity_id, or there are too many" },
    },
    ({ body, caller, request }) =>
      createProvider(deps, caller, body, baseUrl(deps.config, request)),
  ),

  endpoint(
    "PUT /sso/providers/:id",
    {
      operationId: "updateIdentityProvider",
      loginOnly: true,
      summary: "Update an identity provider",
      description:
        `Omitted fields keep their values. Disabling it ends its sessions. ${ADMIN} ${BASE}`,
      ...WRITE,
      body: ProviderChange,
      returns: Provider,
      failures: { ...UNKNOWN, 409: "Another identity provider has this entity_id" },
    },
    ({ params, body, caller, request }) =>
      changeProvider(deps, caller, params.id, body, baseUrl(deps.config, request)),
  ),

  endpoint("DELETE /sso/providers/:id", {
    operationId: "deleteIdentityProvider",
    loginOnly: true,
    summary: "Delete an identity provider",
    description: "Ends its sessions. Its users are kept. They can log in again through the same " +
      "identity provider if it is created again, or through another one with " +
      "`link_existing`.",
    ...WRITE,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => removeProvider(deps, params.id)),

  endpoint("PUT /sso/providers/:id/toggle", {
    operationId: "toggleIdentityProvider",
    loginOnly: true,
    summary: "Enable or disable an identity provider",
    description: "Disabling an identity provider ends its sessions. Enabling one requires the " +
      "built-in role admin.",
    ...WRITE,
    body: ToggleBody,
    returns: Provider,
    failures: UNKNOWN,
  }, ({ params, body, caller }) => setProviderEnabled(deps, caller, params.id, body.enabled)),
];
