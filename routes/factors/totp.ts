/** /api/account/totp and /api/users/:id/mfa: second factors of accounts. @module */

import * as z from "zod";
import { resetFactorsOf } from "../../services/access/factors/factors.ts";
import {
  confirmTotp,
  describeTotp,
  removeTotp,
  startTotp,
} from "../../services/access/factors/own_totp.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done } from "../contract/shapes.ts";
import {
  Code,
  NeededProof,
  noteOwnAccount,
  OFF,
  OWN,
  Password,
  PROOF,
  PROOFS_THROTTLED,
  RecoveryCode,
  RecoveryCodes,
} from "./shapes.ts";

const Totp = z.object({
  enabled: z.boolean().meta({ description: "Whether sign-ins need a code" }),
  recoveryCodesLeft: z.int(),
}).meta({ id: "Totp" });

const TotpSetup = z.object({
  secret: z.string().meta({ description: "Base32", example: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP" }),
  otpauthUrl: z.string(),
  qrSvg: z.string().meta({ description: "The address as a QR code, as SVG" }),
  proof: NeededProof,
}).meta({ id: "TotpSetup" });

const CodeBody = z.object({ code: Code, ...PROOF }).meta({ id: "TotpCode" });

const TotpRemoval = z.union([
  z.strictObject({ password: Password, code: Code }),
  z.strictObject({ password: Password, recoveryCode: RecoveryCode }),
]).meta({ id: "TotpRemoval" });

export const factorEndpoints = (deps: Deps) => [
  endpoint("GET /api/account/totp", {
    operationId: "getTotp",
    summary: "Get your authenticator app",
    ...OWN,
    returns: Totp,
    failures: OFF,
  }, ({ caller }) => describeTotp(deps, caller)),

  endpoint("POST /api/account/totp", {
    operationId: "startTotp",
    summary: "Start an authenticator app",
    description: "Creates a secret for an authenticator app (TOTP, RFC 6238: SHA-1, 30 seconds, " +
      "6 digits). It has no effect before its first code is confirmed.",
    ...OWN,
    returns: TotpSetup,
    failures: { 409: "The account has an authenticator app", ...OFF },
  }, async ({ caller, note }) => {
    const setup = await startTotp(deps, caller);
    noteOwnAccount(deps, caller, note);
    return setup;
  }),

  endpoint("POST /api/account/totp/confirm", {
    operationId: "confirmTotp",
    summary: "Confirm an authenticator app",
    description: "From then on, sign-ins need a code. This one counts as used. Revokes all your " +
      "other sessions. Later than 5 minutes after the sign-in, needs the password, or a recovery " +
      "code where the account has no password, too.",
    ...OWN,
    body: CodeBody,
    returns: RecoveryCodes,
    failures: {
      403: "The code is wrong, or a proof is missing or wrong",
      409: "No new secret waits for a code, or the account has an authenticator app",
      ...PROOFS_THROTTLED,
      ...OFF,
    },
  }, async ({ body: { code, ...proof }, caller, note }) => {
    const codes = await confirmTotp(deps, caller, code, proof);
    noteOwnAccount(deps, caller, note);
    return codes;
  }),

  endpoint("DELETE /api/account/totp", {
    operationId: "removeTotp",
    summary: "Remove your authenticator app",
    description: "Revokes all your other sessions.",
    ...OWN,
    body: TotpRemoval,
    returns: Done,
    failures: {
      403: "The password or the code is wrong",
      404: "The account has no authenticator app, or users mode is off",
      ...PROOFS_THROTTLED,
    },
  }, async ({ body, caller, note }) => {
    await removeTotp(deps, caller, body);
    noteOwnAccount(deps, caller, note);
  }),

  endpoint("DELETE /api/users/:id/mfa", {
    operationId: "resetUserFactors",
    summary: "Reset a user's second factors",
    description: "Removes the authenticator app, the passkeys and the recovery codes of another " +
      "user, and revokes all their sessions. The password stays.",
    role: "admin",
    loginOnly: true,
    permission: "users:write",
    returns: Done,
    failures: {
      403: "The role does not allow this, or the user has more permissions",
      404: "The user does not exist, or users mode is off",
      409: "The user is yourself",
    },
  }, ({ params, caller, note }) => {
    const { email, id } = resetFactorsOf(deps, caller, params.id);
    note.targets = [email, id];
  }),
];
