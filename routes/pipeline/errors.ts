/** Failures as HTTP responses. @module */

import type { Edition } from "../../services/edition.ts";
import {
  asAppError,
  ChangedMeanwhileError,
  EnrolmentError,
  type ErrorCode,
  InputError,
  LimitError,
  PlanRefusedError,
  ThrottledError,
} from "../../services/errors.ts";

const STATUS = {
  invalid: 400,
  unauthorized: 401,
  limit_reached: 402,
  forbidden: 403,
  not_found: 404,
  method_not_allowed: 405,
  conflict: 409,
  precondition_failed: 412,
  too_large: 413,
  unsupported_media_type: 415,
  precondition_required: 428,
  too_many_requests: 429,
  bad_gateway: 502,
  unavailable: 503,
} as const satisfies Record<ErrorCode, number>;

/** The one error that programs must be able to tell from others of its status. */
export const ENROLMENT_REQUIRED = "mfa_enrolment_required";

/** Describes the editions and how to upgrade. */
const UPGRADE_URL = "https://longshore.example/editions";

/** A failure as an HTTP response. */
interface Failure {
  status: number;
  body: { error: string } & Record<string, unknown>;
  headers: Record<string, string>;
}

/** Converts a thrown error. An unexpected one becomes "Internal error", without details. */
export function failureOf(error: unknown, edition: Edition): Failure {
  const known = asAppError(error);
  if (!known) return { status: 500, body: { error: "Internal error" }, headers: {} };

  const status = STATUS[known.code];
  if (known instanceof LimitError) {
    const { message, current, max } = known;
    return {
      status,
      body: { error: message, current, max, currentEdition: edition, upgradeUrl: UPGRADE_URL },
      headers: {},
    };
  }
  return {
    status,
    body: {
      error: known.message,
      ...(known instanceof InputError && { errors: known.issues }),
      ...(known instanceof EnrolmentError && { code: ENROLMENT_REQUIRED }),
      ...(known instanceof ChangedMeanwhileError && { diff: known.diff }),
      ...(known instanceof PlanRefusedError && { changes: known.changes }),
    },
    headers: {
      ...(known instanceof ThrottledError && throttleHeaders(known)),
      // RFC 6750, section 3.
      ...(status === 401 && { "www-authenticate": "Bearer" }),
    },
  };
}

/** `RateLimit` as in the IETF draft httpapi-ratelimit-headers: no requests remain for `t` seconds. */
function throttleHeaders({ retryAfterS }: ThrottledError): Record<string, string> {
  return { "retry-after": String(retryAfterS), ratelimit: `"default";r=0;t=${retryAfterS}` };
}
