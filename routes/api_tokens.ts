/** /api/tokens: API tokens of the caller. @module */

import * as z from "zod";
import {
  type ApiTokenView,
  createOwnApiToken,
  listApiTokens,
  revokeApiToken,
  rotateApiToken,
  TOKENS_MAX,
} from "../services/access/api_tokens/tokens.ts";
import { permissionName, PERMISSIONS } from "../services/access/permissions.ts";
import type { Deps } from "../services/deps.ts";
import { endpoint, type Note } from "./contract/endpoint.ts";
import { Done, Instant, oneLine, queryBoolean, Timestamp } from "./contract/shapes.ts";
import { HostLabels, HostPatterns, patterns } from "./scope_shapes.ts";
import { UserRole } from "./users/shapes.ts";

const [first, ...others] = PERMISSIONS.map(permissionName);

const Permissions = z.array(z.enum([first!, ...others])).min(1).max(PERMISSIONS.length)
  .nullable().meta({
    description: "null for all permissions of the role",
    example: ["containers:read", "containers:restart"],
  });

const settings = {
  name: oneLine(100).meta({ example: "CI" }),
  role: UserRole,
  permissions: Permissions,
  stacks: patterns("Compose projects and Swarm stacks", ["shop"]),
  containers: patterns("containers", ["web*"]),
  hosts: HostPatterns,
  hostLabels: HostLabels,
};

const NewApiToken = z.object({
  ...settings,
  permissions: Permissions.default(null),
  stacks: settings.stacks.default(null),
  containers: settings.containers.default(null),
  hosts: HostPatterns.default(null),
  hostLabels: HostLabels.default(null),
  expiresAt: Instant.nullable().default(null).meta({ description: "null for no expiry" }),
}).meta({
  id: "NewApiToken",
  example: {
    name: "CI",
    role: "operator",
    permissions: ["containers:restart"],
    stacks: ["shop"],
    expiresAt: "2027-01-31T12:00:00Z",
  },
});

const ApiToken = z.object({
  id: z.string(),
  ...settings,
  userId: z.string().meta({ description: "Id of the owner; `key` in key mode", example: "key" }),
  createdAt: Timestamp,
  rotatedAt: Timestamp.nullable().meta({ description: "When the secret was last replaced" }),
  expiresAt: Timestamp.nullable(),
  lastUsedAt: Timestamp.nullable().meta({ description: "Accurate to a minute" }),
  lastUsedAddress: z.string().nullable().meta({ example: "192.0.2.10" }),
  isSuspended: z.boolean().meta({
    description: "Whether it is refused because the identity provider gives its owner no role " +
      "any more",
  }),
}).meta({ id: "ApiToken" });

const IssuedApiToken = ApiToken.extend({
  token: z.string().meta({
    description: "The secret; it is not shown again",
    example: "lst_Zm9yIGRvY3VtZW50YXRpb24gb25seSwgbm90IHZhbGlkAAAAAAAA",
  }),
}).meta({ id: "IssuedApiToken" });

const UNKNOWN = { 404: "The token does not exist, or belongs to another account" };

/** Adds the name and the id to the audit entry. */
function addToNote<Token extends ApiTokenView>(note: Note, token: Token): Token {
  note.target = token.name;
  note.targets = [token.name, token.id];
  return token;
}

export const apiTokenEndpoints = (deps: Deps) => [
  endpoint("GET /api/tokens", {
    operationId: "listApiTokens",
    loginOnly: true,
    summary: "List API tokens",
    description: "Your own, newest first. Expired tokens are listed until they are revoked.",
    role: "viewer",
    query: z.object({
      all: queryBoolean({
        fallback: false,
        description: "Include the tokens of all accounts; for admins",
      }),
    }),
    returns: z.object({ tokens: z.array(ApiToken) }).meta({ id: "ApiTokenList" }),
    failures: { 403: "`all` requires the role admin" },
  }, ({ query, caller }) => ({ tokens: listApiTokens(deps, caller, query) })),

  endpoint("POST /api/tokens", {
    operationId: "createApiToken",
    loginOnly: true,
    summary: "Create an API token",
    description:
      "The token is sent as `Authorization: Bearer`. It has at most the rights that you have at " +
      "the time of a request. `permissions`, `stacks`, `containers`, `hosts` and `hostLabels` limit " +
      "it further; a container must match both `stacks` and `containers`. A token with either of " +
      "these sees the other containers nowhere, and gets 404 where an endpoint is not about single " +
      "containers. A host of the fleet must match both `hosts` and `hostLabels`; a token with " +
      "either of these sees the other hosts and this server's own containers nowhere. API tokens cannot manage tokens, accounts, roles or identity providers. " +
      `An account has at most ${TOKENS_MAX} tokens.`,
    role: "viewer",
    body: NewApiToken,
    returns: IssuedApiToken,
    status: 201,
    failures: { 403: "The role is above your own", 409: "The account has too many tokens" },
  }, ({ body, caller, note }) => addToNote(note, createOwnApiToken(deps, caller, body))),

  endpoint("POST /api/tokens/:id/rotate", {
    operationId: "rotateApiToken",
    loginOnly: true,
    destructive: true,
    summary: "Rotate an API token",
    description: "Replaces the secret and keeps the settings. The former secret is refused " +
      "immediately, and its streams end.",
    role: "viewer",
    returns: IssuedApiToken,
    failures: { ...UNKNOWN, 409: "The token has expired" },
  }, ({ params, caller, note }) => addToNote(note, rotateApiToken(deps, caller, params.id))),

  endpoint("DELETE /api/tokens/:id", {
    operationId: "revokeApiToken",
    loginOnly: true,
    summary: "Revoke an API token",
    description: "Requests with it are refused immediately, and its streams end. Admins can " +
      "revoke the tokens of all accounts, users with `users:write` those of accounts without " +
      "more permissions than their own.",
    role: "viewer",
    returns: Done,
    failures: { ...UNKNOWN, 403: "The owner has permissions that you do not have" },
  }, ({ params, caller, note }) => void addToNote(note, revokeApiToken(deps, caller, params.id))),
];
