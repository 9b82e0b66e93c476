/** /api/account/identities and /api/users/:id/identities: links to identity providers. @module */

import * as z from "zod";
import {
  listIdentities,
  listOwnIdentities,
  unlinkIdentity,
  unlinkOwnIdentity,
} from "../../services/access/users/identities.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, Timestamp } from "../contract/shapes.ts";
import {
  Code,
  NeededProof,
  noteOwnAccount,
  OFF,
  PROOF,
  PROOFS_THROTTLED,
} from "../factors/shapes.ts";

const Identity = z.object({
  id: z.string(),
  kind: z.enum(["oidc", "saml"]),
  provider: z.string().nullable().meta({ description: "Name; null if it was removed" }),
  issuer: z.string().meta({ description: "Issuer (OpenID Connect) or entity ID (SAML)" }),
  subject: z.string().nullable().meta({
    description: "The provider's permanent name for the user; null if SAML has none",
  }),
  linkedAt: Timestamp,
  setsRole: z.boolean().meta({ description: "Whether the provider decides about the role" }),
  isOnlyWayIn: z.boolean().meta({ description: "Whether the user cannot sign in without it" }),
}).meta({ id: "Identity" });

const identities = { identities: z.array(Identity) };

const UnlinkBody = z.object({ ...PROOF, code: Code.optional() }).meta({ id: "IdentityRemoval" });

const UNKNOWN = { 404: "The user or the identity does not exist, or users mode is off" };

export const identityEndpoints = (deps: Deps) => [
  endpoint("GET /api/account/identities", {
    operationId: "listOwnIdentities",
    summary: "List your identities",
    description: "The identity providers that sign you in, oldest link first.",
    role: "viewer",
    loginOnly: true,
    returns: z.object({ ...identities, proof: NeededProof }).meta({ id: "OwnIdentities" }),
    failures: OFF,
  }, ({ caller }) => listOwnIdentities(deps, caller)),

  endpoint("DELETE /api/account/identities/:id", {
    operationId: "unlinkOwnIdentity",
    summary: "Unlink one of your identities",
    description: "The identity provider does not sign you in any more. Revokes all your other " +
      "sessions, and this one if it began there. Later than 5 minutes after the sign-in, needs " +
      "the password, a code or a recovery code, see `GET /api/account/identities`.",
    role: "viewer",
    loginOnly: true,
    body: UnlinkBody,
    returns: Done,
    failures: {
      403: "The provider decides about your role, or a proof is missing or wrong",
      404: "You have no such identity, or users mode is off",
      409: "You could not sign in without it",
      ...PROOFS_THROTTLED,
    },
  }, async ({ params, body, caller, note }) => {
    const { provider, issuer } = await unlinkOwnIdentity(deps, caller, params.id, body);
    noteOwnAccount(deps, caller, note);
    note.command = provider ?? issuer;
  }),

  endpoint(
    "GET /api/users/:id/identities",
    {
      operationId: "listIdentities",
      summary: "List a user's identities",
      description: "The identity providers that sign in the user, oldest link first.",
      role: "admin",
      permission: "users:read",
      returns: z.object(identities).meta({ id: "IdentityList" }),
      failures: { 404: "The user does not exist, or users mode is off" },
    },
    ({ params }) => ({ identities: listIdentities(deps, params.id) }),
  ),

  endpoint("DELETE /api/users/:id/identities/:identityId", {
    operationId: "unlinkIdentity",
    summary: "Unlink a user's identity",
    description: "The identity provider does not sign in the user any more, unless it may link " +
      "existing users. Revokes all sessions of the user. Roles that it has given stay; with " +
      "`isOnlyWayIn`, the user cannot sign in until an admin sets a password.",
    role: "admin",
    loginOnly: true,
    returns: Done,
    failures: { ...UNKNOWN, 409: "The account is your own" },
  }, ({ params, caller, note }) => {
    const { user, identity } = unlinkIdentity(deps, caller, params.id, params.identityId);
    note.targets = [user.email, user.id];
    note.command = identity.provider ?? identity.issuer;
  }),
];
