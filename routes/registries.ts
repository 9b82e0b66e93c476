/** /api/registries: image registries with their credentials. @module */

import * as z from "zod";
import { CA_CERTIFICATE_MAX } from "../services/outbound/certificates.ts";
import { REGISTRY_ERROR_REASONS } from "../services/images/registries/error.ts";
import {
  changeRegistry,
  createRegistry,
  getRegistry,
  listRegistries,
  removeRegistry,
  testRegistry,
} from "../services/images/registries/registries.ts";
import type { Deps } from "../services/deps.ts";
import { endpoint } from "./contract/endpoint.ts";
import { Done, Timestamp } from "./contract/shapes.ts";

/** Clouds use signed tokens of several kilobytes as passwords. */
const PASSWORD_MAX = 8_192;

const fields = {
  host: z.string().min(1).max(255).meta({
    description: "Host with an optional port. `index.docker.io` and `registry-1.docker.io` are " +
      "stored as `docker.io`",
  }),
  pathPrefix: z.string().max(255).nullable().meta({
    description: "Limits the entry to the repositories below this path. The longest path that " +
      "matches an image applies",
  }),
  // RFC 7617, 2: a colon would end the user name.
  username: z.string().regex(/^[^:\p{Cc}]{1,255}$/u, {
    error: "must have 1 to 255 characters without colons and control characters",
  }).nullable(),
  password: z.string().regex(/^\P{Cc}*$/u, { error: "must not have control characters" })
    .min(1).max(PASSWORD_MAX).nullable().meta({
      description:
        "A password or access token. Stored encrypted and never returned; `********` in an " +
        "update keeps it",
    }),
  insecure: z.boolean().meta({
    description: "Checks use plain HTTP. The engine needs the same setting for pulls " +
      "(`insecure-registries`)",
  }),
  caCertificate: z.string().min(1).max(CA_CERTIFICATE_MAX).nullable().meta({
    description: "Certificates (PEM) of the authority, trusted in addition to the public ones. " +
      "The engine needs its own copy for pulls",
  }),
};

const EXAMPLE = {
  host: "registry.example.com",
  pathPrefix: "team",
  username: "longshore",
  password: "dckr_pat_example",
};

const NewRegistry = z.object({
  host: fields.host,
  pathPrefix: fields.pathPrefix.default(null),
  username: fields.username.default(null),
  password: fields.password.default(null),
  insecure: fields.insecure.default(false),
  caCertificate: fields.caCertificate.default(null),
}).meta({ id: "NewRegistry", example: EXAMPLE });

const RegistryChange = z.object(fields).partial()
  .meta({ id: "RegistryChanges", example: { password: "dckr_pat_new" } });

const Registry = z.object({
  id: z.string(),
  host: z.string(),
  pathPrefix: z.string().nullable(),
  username: z.string().nullable().meta({
    description: "Null without one, or with an identity token",
  }),
  hasPassword: z.boolean(),
  insecure: z.boolean(),
  caCertificate: z.string().nullable(),
  source: z.enum(["stored", "file"]).meta({
    description: "`file`: an entry of REGISTRY_AUTH_FILE, which is read-only here",
  }),
  createdAt: Timestamp.nullable(),
  updatedAt: Timestamp.nullable(),
}).meta({ id: "Registry" });

const RegistryList = z.object({
  registries: z.array(Registry),
  authFile: z.object({
    problems: z.array(z.string()).meta({
      description: "What cannot be used, such as `credsStore` and `credHelpers`, and why",
    }),
  }).nullable().meta({ description: "Null if REGISTRY_AUTH_FILE is not set" }),
}).meta({ id: "RegistryList" });

const RegistryTest = z.object({
  ok: z.boolean(),
  reason: z.enum(REGISTRY_ERROR_REASONS).nullable(),
  error: z.string().nullable(),
  durationMs: z.int(),
}).meta({
  id: "RegistryTest",
  example: {
    ok: false,
    reason: "unreachable",
    error: "registry.example.com has no address",
    durationMs: 12,
  },
});

const UNKNOWN = { 404: "The registry does not exist" };
const IN_USE = "The host and path are in use, or the entry is in REGISTRY_AUTH_FILE";

const READ = { role: "admin", permission: "registries:read" } as const;
const WRITE = { role: "admin", permission: "registries:write" } as const;

export const registryEndpoints = (deps: Deps) => [
  endpoint("GET /api/registries", {
    operationId: "listRegistries",
    summary: "List registries",
    description: "Stored registries by host and path, then the entries of REGISTRY_AUTH_FILE.",
    ...READ,
    returns: RegistryList,
  }, () => listRegistries(deps)),

  endpoint("POST /api/registries", {
    operationId: "createRegistry",
    summary: "Create a registry",
    description: "Its credentials are used for pulls, rebuilds and Swarm services whose image " +
      "has the host and path. An entry without credentials means anonymous access.",
    ...WRITE,
    body: NewRegistry,
    returns: Registry,
    status: 201,
    failures: { 409: "The host and path are in use, or the limit of registries is reached" },
  }, ({ body }) => createRegistry(deps, body)),

  endpoint("GET /api/registries/:id", {
    operationId: "getRegistry",
    summary: "Get a registry",
    ...READ,
    returns: Registry,
    failures: UNKNOWN,
  }, ({ params }) => getRegistry(deps, params.id)),

  endpoint("PUT /api/registries/:id", {
    operationId: "updateRegistry",
    summary: "Update a registry",
    description: "Omitted fields keep their values; null removes one. The password must be sent " +
      "again if the host changes or `insecure` becomes true.",
    ...WRITE,
    body: RegistryChange,
    returns: Registry,
    failures: { 409: IN_USE, ...UNKNOWN },
  }, ({ params, body }) => changeRegistry(deps, params.id, body)),

  endpoint("DELETE /api/registries/:id", {
    operationId: "deleteRegistry",
    summary: "Delete a registry",
    ...WRITE,
    returns: Done,
    failures: { 409: "The entry is in REGISTRY_AUTH_FILE", ...UNKNOWN },
  }, ({ params }) => removeRegistry(deps, params.id)),

  endpoint("POST /api/registries/:id/test", {
    operationId: "testRegistry",
    summary: "Test a registry",
    description: "Checks from Longshore, not from the engine, that the registry answers and " +
      "accepts the credentials. A failure is a response with `ok: false`.",
    ...WRITE,
    returns: RegistryTest,
    failures: { 409: "The stored password cannot be decrypted", ...UNKNOWN },
  }, ({ params }) => testRegistry(deps, params.id)),
];
