/**
 * `longshore healthcheck`: for a container's health check, which has neither curl nor a shell.
 *
 * @module
 */

import { readConfig } from "../services/config/config.ts";
import { requestOwn } from "./own_request.ts";
import { assertNoArguments, EXIT, type Program } from "./program.ts";

/** Requests `GET /readyz` of the service with the same configuration. */
export async function healthcheck(program: Program): Promise<number> {
  assertNoArguments("healthcheck", program);
  const status = await requestOwn(readConfig(program.env, program.surroundings), "/readyz");
  program.print(status === 200 ? "ready" : `not ready: ${status}`);
  return status === 200 ? EXIT.ok : EXIT.failure;
}
