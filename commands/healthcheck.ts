/**
 * `longshore healthcheck`: for a container's health check, which has neither curl nor a shell.
 *
 * @module
 */

import { nodeHttp, nodeHttps } from "../services/builtins.ts";
import { readConfig } from "../services/config/config.ts";
import { assertNoArguments, EXIT, type Program } from "./program.ts";

const TIMEOUT_MS = 5_000;

/** Requests `GET /readyz` of the service with the same configuration. */
export async function healthcheck(program: Program): Promise<number> {
  assertNoArguments("healthcheck", program);
  const config = readConfig(program.env, program.surroundings);
  const { request } = config.tlsCertFile === null ? nodeHttp() : nodeHttps();

  const status = await new Promise<number | string>((resolve) => {
    const sent = request({
      host: loopbackOf(config.host),
      port: config.port,
      path: "/readyz",
      timeout: TIMEOUT_MS,
      // The certificate is for the public name, and the connection does not leave the host.
      rejectUnauthorized: false,
    }, (response) => {
      response.resume();
      resolve(response.statusCode ?? "no status");
    });
    sent.on("timeout", () => sent.destroy(new Error(`no answer in ${TIMEOUT_MS} ms`)));
    sent.on("error", (error) => resolve(error.message));
    sent.end();
  });
  program.print(status === 200 ? "ready" : `not ready: ${status}`);
  return status === 200 ? EXIT.ok : EXIT.failure;
}

/** Returns the loopback address for a wildcard address. */
function loopbackOf(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}
