/** Tokens of a fleet as arguments. @module */

import { AppError } from "../services/errors.ts";
import { decodeToken, type FleetToken } from "../services/fleet/enrolment/token.ts";
import { UsageError } from "./program.ts";

/**
 * @param use Default: the token of an invite.
 * @throws {UsageError} The message does not quote the text.
 */
export function tokenOf(text: string, use?: Parameters<typeof decodeToken>[1]): FleetToken {
  try {
    return decodeToken(text, use);
  } catch (error) {
    throw error instanceof AppError ? new UsageError(error.message) : error;
  }
}
