/** The engine that the configuration names, or that is found on this host. @module */

import { type EngineEndpoint, socketEndpoint } from "../engine/endpoint.ts";
import { findEngineSocket } from "../engine/socket.ts";
import type { Config } from "../services/config/config.ts";
import { tcpAddress } from "../services/config/values.ts";
import { isRefusedLiteral } from "../services/outbound/address.ts";
import { type EngineIdentity, tcpEndpoint } from "../services/outbound/engine_endpoint.ts";
import { CommandError, commandError, type Program } from "./program.ts";

/** Docker's ports. */
const PLAIN_PORT = 2375;
const TLS_PORT = 2376;

/** @throws {CommandError} If the variables `DOCKER_…` do not fit together, or a file cannot be read. */
export async function findEngineEndpoint(
  { env, surroundings }: Pick<Program, "env" | "surroundings">,
  config: Config,
): Promise<EngineEndpoint> {
  const { dockerHost, dockerTlsVerify, dockerCertPath } = config;
  const tcp = dockerHost === null ? undefined : tcpAddress(dockerHost);
  if (!tcp) {
    return socketEndpoint(
      await findEngineSocket({
        dockerHost,
        xdgRuntimeDir: env.XDG_RUNTIME_DIR,
        home: env.HOME,
        uid: Deno.uid(),
      }),
    );
  }
  const { host, port = dockerTlsVerify ? TLS_PORT : PLAIN_PORT } = tcp;
  if (dockerTlsVerify) {
    const directory = dockerCertPath ?? `${env.HOME ?? "/root"}/.docker`;
    const identity = readIdentity(directory, surroundings.readTextFile);
    return tcpEndpoint({ host, port }, { config, identity });
  }
  if (dockerCertPath !== null) {
    throw new CommandError(
      "DOCKER_CERT_PATH has no effect without DOCKER_TLS_VERIFY: set DOCKER_TLS_VERIFY=1, or " +
        "remove DOCKER_CERT_PATH",
    );
  }
  if (isRefusedLiteral(host, "private")) {
    throw new CommandError(
      `DOCKER_HOST=${dockerHost} is not an address of a private network or this host, which plain ` +
        "TCP requires: use such an address, or TLS with DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH",
    );
  }
  return tcpEndpoint({ host, port }, { config });
}

function readIdentity(directory: string, readTextFile: (path: string) => string): EngineIdentity {
  const read = (name: string) => {
    const path = `${directory}/${name}`;
    try {
      return readTextFile(path);
    } catch (error) {
      throw commandError(`DOCKER_TLS_VERIFY needs ${path}, which cannot be read`, error);
    }
  };
  return { ca: read("ca.pem"), cert: read("cert.pem"), key: read("key.pem") };
}
