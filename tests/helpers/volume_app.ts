/** Volumes of a private engine, whose files a test sees as root on the host. @module */

import { containerList } from "../../engine/containers.ts";
import { systemPing } from "../../engine/system.ts";
import { volumeRemove } from "../../engine/volumes.ts";
import { createVolume } from "../../services/backup/volumes/write.ts";
import { HELPER_LABEL } from "../../services/containers/helpers.ts";
import { liveApp } from "./live_app.ts";
import { long } from "./long.ts";
import {
  BUSYBOX,
  isEngineRequired,
  podmanObstacle,
  privateEngineTest,
  type RealEngine,
  startPodman,
} from "./real_engine.ts";
import type { Sandbox } from "./sandbox.ts";

/** An engine whose volumes can be seen. */
export type SeenEngine = RealEngine & { sandbox: Sandbox };

const { signal } = new AbortController();

/** An application on an engine whose volumes the test sees as root on the host. */
export async function volumeApp(engine: SeenEngine, socketPath = engine.socketPath) {
  await using stack = new AsyncDisposableStack();
  const app = stack.use(await liveApp(socketPath));
  const { deps } = app;
  await systemPing(deps.engine);
  const part = engine.kind === "podman" ? "podman" : "docker";
  const volumes =
    `/proc/${engine.sandbox.pid}/root${engine.sandbox.directory}/data/${part}/volumes`;
  const resources = stack.move();
  return {
    app,
    deps,
    volumes,
    /** Creates a volume that a container has used; returns its name and its directory on the host. */
    async volume() {
      const name = `files-${crypto.randomUUID()}`;
      await createVolume(deps, { name }, { signal });
      resources.defer(() => volumeRemove(deps.engine, name));
      // Podman sets the owner of the root when a container uses the volume for the first time.
      await engine.docker("run", "--rm", `--volume=${name}:/data`, BUSYBOX, "true");
      return {
        source: { type: "volume", source: name } as const,
        path: `${volumes}/${name}/_data`,
      };
    },
    helpers: async () =>
      (await containerList(deps.engine, { all: true, filters: { label: [HELPER_LABEL] } })).length,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

/** Registers a test for both engines, whose volumes it sees on the host; that of Podman is a long one. */
export function eachEngine(
  name: string,
  run: (engine: SeenEngine) => Promise<void>,
): void {
  privateEngineTest(`${name} (Docker)`, run);
  const ignore = podmanObstacle() !== undefined && !isEngineRequired();
  long(Deno.test)({ name: `${name} (Podman)`, ignore }, async () => {
    // That of the test run is not seen from here.
    await using engine = await startPodman();
    await run(engine);
  });
}
