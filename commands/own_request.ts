/** Requests of the program to its own service. @module */

import { nodeHttp, nodeHttps } from "../services/builtins.ts";
import type { Config } from "../services/config/config.ts";

const TIMEOUT_MS = 5_000;

/** @returns The status of `GET path`, or the reason why there is none. */
export function requestOwn(
  { host, port, isTls }: Pick<Config, "host" | "port"> & { isTls: boolean },
  path: string,
): Promise<number | string> {
  const { request } = isTls ? nodeHttps() : nodeHttp();
  return new Promise((resolve) => {
    const sent = request({
      host: loopbackOf(host),
      port,
      path,
      // A new connection each time, because the listener is what is asked about.
      agent: false,
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
}

/** Returns the loopback address for a wildcard address. */
function loopbackOf(host: string): string {
  if (host === "0.0.0.0") return "127.0.0.1";
  return host === "::" ? "::1" : host;
}
