/** An image registry for tests, next to a private engine. @module */

import { BUSYBOX, type RealEngine } from "./real_engine.ts";
import { type Daemon, runInside, type Sandbox, startDaemon } from "./sandbox.ts";

export interface Registry extends AsyncDisposable {
  /** Host and port as the engine sees them, e.g. `127.0.0.1:5000`; engines take it without TLS. */
  address: string;
  /**
   * Puts an image of the engine into the registry and removes that name from the engine.
   *
   * @param repository With its tag, e.g. `app:1`.
   * @param image Default: the test image.
   * @returns The full reference to pull.
   */
  push(repository: string, image?: string): Promise<string>;
  /** Stops the registry and keeps its content, as in an outage. */
  stop(): Promise<void>;
  restart(): Promise<void>;
  /** Stops it from answering until the result is disposed; connections stay open. */
  freeze(): Promise<AsyncDisposable>;
}

/** The credentials of a registry with `isPrivate`. */
export const REGISTRY_USER = { username: "longshore", password: "test-password-7" };

/** REGISTRY_USER for the registry: bcrypt is the only hash that it takes. */
const HTPASSWD = "longshore:$2y$05$abcdefghijklmnopqrstuu60ImcntFBtuUGgFNq9NQIqn.JaGL88m\n";

/**
 * Writes the configuration of a registry, and next to it one of the engine's command line that has the
 * credentials.
 *
 * @param registry.folder Where its files are; created.
 * @param registry.tls The paths of its certificate and key.
 * @returns The path of the configuration.
 */
export async function writeRegistryConfig(
  { folder, address, isPrivate, tls }: {
    folder: string;
    address: string;
    isPrivate: boolean;
    tls?: { certificate: string; key: string };
  },
): Promise<string> {
  const { username, password } = REGISTRY_USER;
  const auth = btoa(`${username}:${password}`);
  await Deno.mkdir(folder);
  await Deno.writeTextFile(`${folder}/htpasswd`, HTPASSWD);
  await Deno.writeTextFile(
    `${folder}/config.json`,
    JSON.stringify({ auths: isPrivate ? { [address]: { auth } } : {} }),
  );
  // JSON is YAML.
  const config = {
    version: "0.1",
    log: { level: "warn" },
    storage: { filesystem: { rootdirectory: folder }, delete: { enabled: true } },
    http: { addr: address, secret: "test", ...(tls && { tls }) },
    ...(isPrivate && { auth: { htpasswd: { realm: "test", path: `${folder}/htpasswd` } } }),
  };
  await Deno.writeTextFile(`${folder}/config.yml`, JSON.stringify(config));
  return `${folder}/config.yml`;
}

/**
 * Starts a registry in the engine's sandbox.
 *
 * @param options.host Address for engines in other sandboxes, which take it with `--insecure-registry`;
 * default: the loopback address.
 * @param options.port Only needed for several registries of one engine.
 * @param options.isPrivate Whether it requires {@linkcode REGISTRY_USER} (Basic authentication).
 */
export async function startRegistry(
  engine: RealEngine & { sandbox: Sandbox },
  { host = "127.0.0.1", port = 5000, isPrivate = false }: {
    host?: string;
    port?: number;
    isPrivate?: boolean;
  } = {},
): Promise<Registry> {
  const { sandbox } = engine;
  const address = `${host}:${port}`;
  const folder = `${sandbox.directory}/registry-${port}`;
  const config = await writeRegistryConfig({ folder, address, isPrivate });
  const { username, password } = REGISTRY_USER;
  const authority = isPrivate ? `${username}:${password}@${address}` : address;
  const start = () =>
    startDaemon(
      sandbox,
      `registry-${port}`,
      ["docker-registry", "serve", config],
      () =>
        runInside(sandbox, ["busybox", "wget", "-qO-", `http://${authority}/v2/`]).then(() => true),
    );

  let daemon: Daemon = await start();
  const stop = async () => await daemon[Symbol.asyncDispose]();
  return {
    address,
    async push(repository, image = BUSYBOX) {
      const reference = `${address}/${repository}`;
      await engine.docker("tag", image, reference);
      await engine.docker("--config", folder, "push", reference);
      await engine.docker("rmi", reference);
      return reference;
    },
    stop,
    async restart() {
      daemon = await start();
    },
    async freeze() {
      await daemon.signal("STOP");
      return { [Symbol.asyncDispose]: () => daemon.signal("CONT") };
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}
