/**
 * `longshore healthcheck`: for a container's health check, which has neither curl nor a shell.
 *
 * @module
 */

import { findInstallation } from "./installation.ts";
import { requestOwn } from "./own_request.ts";
import { assertNoArguments, EXIT, type Program } from "./program.ts";

/** Requests `GET /readyz` of the service with the same configuration or data directory. */
export async function healthcheck(program: Program): Promise<number> {
  assertNoArguments("healthcheck", program);
  const status = await requestOwn(findService(program), "/readyz");
  program.print(status === 200 ? "ready" : `not ready: ${status}`);
  return status === 200 ? EXIT.ok : EXIT.failure;
}

/** Without `PORT`, the service that runs on the data directory may have any port. */
function findService(program: Program): Parameters<typeof requestOwn>[0] {
  const { config, running } = findInstallation(program);
  if (program.env["PORT"]?.trim() || !running) {
    return { ...config, isTls: config.tlsCertFile !== null };
  }
  const { protocol, hostname, port } = new URL(running.address);
  const isTls = protocol === "https:";
  const usualPort = isTls ? 443 : 80;
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || usualPort, isTls };
}
