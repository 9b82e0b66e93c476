/** Refused sign-ins of users whom an identity provider names. @module */

import { AppError } from "../../errors.ts";

/** A refused sign-in, with one code and one sentence for each reason. */
export class SignInRefusal<Reason extends string = string> extends AppError {
  override readonly name: string = "SignInRefusal";

  constructor(
    readonly reason: Reason,
    code: "invalid" | "unauthorized" | "forbidden" | "bad_gateway",
    message: string,
    options?: ErrorOptions,
  ) {
    super(code, message, options);
  }
}

/** Reasons that do not depend on the protocol. */
export type UserReason =
  | "email_missing"
  | "email_invalid"
  | "email_unconfirmed"
  | "account_off"
  | "suspended";
