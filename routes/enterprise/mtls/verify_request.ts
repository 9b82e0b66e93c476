/** Requests of a reverse proxy to verify a client's certificate. @module */

import type { Deps } from "../../../services/deps.ts";
import { isVerifySecret } from "../../../services/enterprise/mtls/verify_secret.ts";
import { pathOf } from "../../pipeline/request_url.ts";

const VERIFY_PATH = /^\/api\/ext\/service-enterprise\/mtls\/verify\/?$/;

/**
 * Whether a request comes from a reverse proxy that knows the verify secret. The proxy sends one for
 * each request of its clients.
 */
export const isVerifyRequest = (deps: Pick<Deps, "config">, request: Request): boolean =>
  VERIFY_PATH.test(pathOf(request)) &&
  isVerifySecret(deps, request.headers.get("x-verify-secret"));
