/**
 * An image registry for tests, next to a private engine.
 *
 * @module
 */

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
}

/**
 * Starts a registry on the loopback address of the engine's sandbox.
 *
 * @param options.port Only needed for several registries of one engine.
 */
export async function startRegistry(
  engine: RealEngine & { sandbox: Sandbox },
  { port = 5000 }: { port?: number } = {},
): Promise<Registry> {
  const { sandbox } = engine;
  const address = `127.0.0.1:${port}`;
  const folder = `${sandbox.directory}/registry-${port}`;
  await Deno.mkdir(folder);
  await Deno.writeTextFile(
    `${folder}/config.yml`,
    `version: 0.1
log: { level: warn }
storage: { filesystem: { rootdirectory: ${folder} }, delete: { enabled: true } }
http: { addr: "${address}", secret: test }
`,
  );
  const start = () =>
    startDaemon(
      sandbox,
      `registry-${port}`,
      ["docker-registry", "serve", `${folder}/config.yml`],
      () =>
        runInside(sandbox, ["busybox", "wget", "-qO-", `http://${address}/v2/`]).then(() => true),
    );

  let daemon: Daemon = await start();
  const stop = async () => await daemon[Symbol.asyncDispose]();
  return {
    address,
    async push(repository, image = BUSYBOX) {
      const reference = `${address}/${repository}`;
      await engine.docker("tag", image, reference);
      await engine.docker("push", reference);
      await engine.docker("rmi", reference);
      return reference;
    },
    stop,
    async restart() {
      daemon = await start();
    },
    async [Symbol.asyncDispose]() {
      await stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}
