/**
 * `longshore healthcheck`: for a container's health check, which has neither curl nor a shell.
 *
 * @module
 */

import { readConfig } from "../services/config/config.ts";
import { assertNoArguments, EXIT, type Program } from "./program.ts";

const TIMEOUT_MS = 5_000;

/** Asks the service that runs with the same configuration for `GET /readyz`. */
export async function healthcheck(program: Program): Promise<number> {
  assertNoArguments("healthcheck", program);
  const config = readConfig(program.env, program.surroundings);
  const { request } = config.tlsCertFile === null
    ? await import("node:http")
    : await import("node:https");

  const status = await new Promise<number | string>((resolve) => {
    const asked = request({
      host: loopbackOf(config.host),
      port: config.port,
      path: "/readyz",
      timeout: TIMEOUT_MS,
      // The certificate is for the public name, and the way there does not leave the host.
      rejectUnauthorized: false,
    }, (response) => {
      response.resume();
      resolve(response.statusCode ?? "no status");
    });
    asked.on("timeout", () => asked.destroy(new Error(`no answer in ${TIMEOUT_MS} ms`)));
    asked.on("error", (error) => resolve(error.message));
    asked.end();
  });
  program.print(status === 200 ? "ready" : `not ready: ${status}`);
  return status === 200 ? EXIT.ok : EXIT.failure;
}

/** Where a service that listens everywhere is reached from its own host. */
function loopbackOf(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}
