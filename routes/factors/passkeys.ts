/** /api/account/passkeys: the caller's own passkeys. @module */

import * as z from "zod";
import {
  addPasskey,
  listPasskeys,
  registrationOptions,
  removePasskey,
  renamePasskey,
} from "../../services/access/factors/own_passkeys.ts";
import { requireRelyingParty } from "../../services/access/factors/relying_party.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, oneLine, Timestamp } from "../contract/shapes.ts";
import { baseUrl } from "../pipeline/request_url.ts";
import { CreationOptions, RegistrationCredential } from "./credentials.ts";
import {
  Code,
  NeededProof,
  noteOwnAccount,
  OFF,
  OWN,
  PROOF,
  PROOFS_THROTTLED,
  RecoveryCodes,
} from "./shapes.ts";

const Name = oneLine(100).meta({ example: "Security key" });

const Passkey = z.object({
  id: z.string(),
  name: Name,
  rpId: z.string().meta({ description: "The host that it signs in to" }),
  createdAt: Timestamp,
  lastUsedAt: Timestamp.nullable(),
}).meta({ id: "Passkey" });

const NewPasskey = z.object({
  name: Name.optional().meta({ description: "By default its number" }),
  credential: RegistrationCredential,
  ...PROOF,
  code: Code.optional(),
}).meta({ id: "NewPasskey" });

const PasskeyRemoval = z.object({ ...PROOF, code: Code.optional() }).meta({ id: "PasskeyRemoval" });

const UNKNOWN = { 404: "You have no such passkey, or users mode is off" };

export const passkeyEndpoints = (deps: Deps) => {
  const partyOf = (request: Request) => requireRelyingParty(baseUrl(deps.config, request));

  return [
    endpoint("POST /api/account/passkeys/options", {
      operationId: "getPasskeyCreationOptions",
      summary: "Get options for a passkey",
      description: "For `PublicKeyCredential.parseCreationOptionsFromJSON()`. The challenge is " +
        "valid for 5 minutes, once, and for this session.",
      ...OWN,
      returns: CreationOptions,
      failures: {
        409: "The limit of passkeys is reached, or the service has neither HTTPS nor a host name",
        ...OFF,
      },
    }, ({ caller, request }) => registrationOptions(deps, caller, partyOf(request))),

    endpoint("GET /api/account/passkeys", {
      operationId: "listPasskeys",
      summary: "List your passkeys",
      description: "Oldest first.",
      ...OWN,
      returns: z.object({ passkeys: z.array(Passkey), proof: NeededProof })
        .meta({ id: "PasskeyList" }),
      failures: OFF,
    }, ({ caller }) => listPasskeys(deps, caller)),

    endpoint("POST /api/account/passkeys", {
      operationId: "addPasskey",
      summary: "Add a passkey",
      description: "Takes what the browser made of the options. From then on, sign-ins by " +
        "password need a second factor, and the passkey signs in without a password where it " +
        "recognizes its user. Revokes all your other sessions. Later than 5 minutes after the " +
        "sign-in, needs the password, a code or a recovery code, see `GET /api/account/passkeys`.",
      ...OWN,
      body: NewPasskey,
      returns: Passkey.extend(RecoveryCodes.shape).meta({ id: "AddedPasskey" }),
      status: 201,
      failures: {
        403: "The passkey is not valid for the options, or a proof is missing or wrong",
        409: "The passkey is known, the limit is reached, or the address has no HTTPS or host name",
        ...PROOFS_THROTTLED,
        ...OFF,
      },
    }, async ({ body, caller, request, note }) => {
      const added = await addPasskey(deps, caller, body, partyOf(request));
      noteOwnAccount(deps, caller, note);
      return added;
    }),

    endpoint("PUT /api/account/passkeys/:id", {
      operationId: "renamePasskey",
      summary: "Rename a passkey",
      ...OWN,
      body: z.object({ name: Name }).meta({ id: "PasskeyName" }),
      returns: Passkey,
      failures: UNKNOWN,
    }, ({ params, body, caller }) => renamePasskey(deps, caller, params.id, body.name)),

    endpoint("DELETE /api/account/passkeys/:id", {
      operationId: "deletePasskey",
      summary: "Delete a passkey",
      description: "Revokes all your other sessions. With your last second factor, the recovery " +
        "codes are deleted, too. Needs a proof like adding one.",
      ...OWN,
      body: PasskeyRemoval,
      returns: Done,
      failures: { 403: "A proof is missing or wrong", ...PROOFS_THROTTLED, ...UNKNOWN },
    }, ({ params, body, caller }) => removePasskey(deps, caller, params.id, body)),
  ];
};
