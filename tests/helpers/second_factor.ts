/** Second factors of test users. @module */

import { equal } from "node:assert/strict";
import { stepAt, totpCode } from "../../services/access/factors/totp.ts";
import { login, PASSWORD } from "./accounts.ts";
import type { CallOptions, TestApp } from "./test_app.ts";

/** An account with an authenticator app. */
export interface TotpAccount {
  email: string;
  recoveryCodes: string[];
  /** The code of the app now, or some steps of 30 seconds later. */
  code(stepsLater?: number): string;
  /** The access token of the session that set it up. */
  token: string;
}

/** Sets up an authenticator app. Its current code counts as used. */
export async function addTotp(app: TestApp, email = "viewer@example.com"): Promise<TotpAccount> {
  const { accessToken: token } = await login(app, email);
  const started = await app.call("POST", "/api/account/totp", undefined, { token });
  equal(started.status, 200, started.body.error);
  const secret = decodeBase32(started.body.secret);
  const code = (later = 0) => totpCode(secret, stepAt(app.clock.now()) + later);
  const confirmed = await app.call("POST", "/api/account/totp/confirm", { code: code() }, {
    token,
  });
  equal(confirmed.status, 200, confirmed.body.error);
  return { email, token, code, recoveryCodes: confirmed.body.recoveryCodes };
}

/** Proves the password of an account with a second factor. @returns The token of the second step. */
export async function firstStep(app: TestApp, email = "viewer@example.com", options?: CallOptions) {
  const body = { email, password: PASSWORD };
  const answer = await app.call("POST", "/auth/login", body, { role: "public", ...options });
  equal(answer.status, 200, answer.body.error);
  return answer.body.mfaToken as string;
}

/** Sends a second factor. */
export const secondStep = (
  app: TestApp,
  mfaToken: string,
  factor: Record<string, unknown>,
  options?: CallOptions,
) => app.call("POST", "/auth/mfa", { mfaToken, ...factor }, { role: "public", ...options });

/** A code that is not accepted now. */
export const wrongCode = ({ code }: TotpAccount): string =>
  ["000000", "111111", "222222", "333333"].find((each) =>
    ![code(-1), code(), code(1)].includes(each)
  )!;

export function decodeBase32(text: string): Uint8Array {
  const bits = Array.from(
    text,
    (each) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(each).toString(2).padStart(5, "0"),
  ).join("");
  return Uint8Array.from(bits.match(/.{8}/g)!, (byte) => parseInt(byte, 2));
}
