import { equal, rejects } from "node:assert/strict";
import { findEngineEndpoint } from "../../commands/engine_endpoint.ts";
import { CommandError } from "../../commands/program.ts";
import { readConfig } from "../../services/config/config.ts";

const FILES = ["ca.pem", "cert.pem", "key.pem"];

function find(env: Record<string, string>, files: string[] = []) {
  const surroundings = {
    hostname: "host-1",
    terminal: false,
    packed: true,
    readTextFile(path: string) {
      if (!files.includes(path)) throw new Deno.errors.NotFound();
      return path;
    },
  };
  return findEngineEndpoint({ env, surroundings }, readConfig(env, surroundings));
}

const addressOf = async (env: Record<string, string>, files?: string[]) =>
  (await find(env, files)).address;

Deno.test("DOCKER_HOST names a socket or a port, which defaults to Docker's", async () => {
  equal(await addressOf({ DOCKER_HOST: "unix:///no/such.sock" }), "/no/such.sock");
  equal(await addressOf({ DOCKER_HOST: "tcp://socket-proxy:2375" }), "tcp://socket-proxy:2375");
  equal(await addressOf({ DOCKER_HOST: "tcp://10.0.0.5/" }), "tcp://10.0.0.5:2375");
  equal(await addressOf({ DOCKER_HOST: "tcp://[fd00::1]:80" }), "tcp://[fd00::1]:80");
  equal(await addressOf({ DOCKER_HOST: "unix:///a.sock", DOCKER_TLS_VERIFY: "1" }), "/a.sock");
});

Deno.test("TLS takes its files from DOCKER_CERT_PATH or ~/.docker, and reaches any address", async () => {
  const DOCKER_HOST = "tcp://203.0.113.7";
  const named = { DOCKER_HOST, DOCKER_TLS_VERIFY: "1", DOCKER_CERT_PATH: "/certs" };
  equal(await addressOf(named, FILES.map((name) => `/certs/${name}`)), `${DOCKER_HOST}:2376`);
  const home = { DOCKER_HOST, DOCKER_TLS_VERIFY: "yes", HOME: "/home/a" };
  equal(
    await addressOf(home, FILES.map((name) => `/home/a/.docker/${name}`)),
    `${DOCKER_HOST}:2376`,
  );
  await rejects(
    find(named, ["/certs/ca.pem", "/certs/cert.pem"]),
    new CommandError(
      "DOCKER_TLS_VERIFY needs /certs/key.pem, which cannot be read: it does not exist",
    ),
  );
});

Deno.test("a start refuses an address that needs TLS, and certificates without it", async () => {
  for (const host of ["203.0.113.7", "100.64.0.1", "0.0.0.0", "[::ffff:10.0.0.1]", "169.254.1.1"]) {
    await rejects(
      find({ DOCKER_HOST: `tcp://${host}:2375` }),
      new CommandError(
        `DOCKER_HOST=tcp://${host}:2375 is not an address of a private network or this host, ` +
          "which plain TCP requires: use such an address, or TLS with DOCKER_TLS_VERIFY=1 and " +
          "DOCKER_CERT_PATH",
      ),
    );
  }
  await rejects(
    find({ DOCKER_HOST: "tcp://10.0.0.1", DOCKER_CERT_PATH: "/certs" }),
    new CommandError(
      "DOCKER_CERT_PATH has no effect without DOCKER_TLS_VERIFY: set DOCKER_TLS_VERIFY=1, or " +
        "remove DOCKER_CERT_PATH",
    ),
  );
});
