import { deepEqual, equal } from "node:assert/strict";
import { connectEngine } from "../../engine/client.ts";
import { findOwnContainer } from "../../services/ce/containers/self_search.ts";
import type { Log } from "../../services/log.ts";
import { liveApp } from "../helpers/live_app.ts";
import { BUSYBOX, privateEngineTest } from "../helpers/real_engine.ts";
import { testConfig } from "../helpers/test_app.ts";

/** As with host networking: the process knows neither its container id nor a host name. */
const HINT = { isContainerized: true, id: null, hostname: "the-host" };

privateEngineTest(
  "the own container is found by a marker, and cannot be stopped",
  async (engine) => {
    const name = `longshore-test-self-${crypto.randomUUID().slice(0, 8)}`;
    const dataDir = `${engine.sandbox.directory}/${name}`;
    await Deno.mkdir(dataDir);
    const run = (name: string, ...options: string[]) =>
      engine.docker(
        "run",
        "--detach",
        `--name=${name}`,
        ...options,
        BUSYBOX,
        "sleep",
        "2147483647",
      );
    const other = `${name}-other`;
    try {
      const id = await run(name, "--network=host", `--volume=${dataDir}:${dataDir}`);
      await run(other, "--network=host");
      await using app = await liveApp(engine.socketPath, {
        config: { dataDir },
        self: { ...HINT },
      });

      equal(app.deps.self.id, id);
      const { body } = await app.call("GET", "/api/health");
      equal(body.ownContainer, "known");
      for (const action of ["stop", "restart", "rebuild"]) {
        equal((await app.call("POST", `/api/containers/${name}/${action}`)).status, 403, action);
      }
      deepEqual([...Deno.readDirSync(dataDir)], []);
    } finally {
      await engine.docker("rm", "--force", name, other);
      await Deno.remove(dataDir, { recursive: true });
    }
  },
);

privateEngineTest("an own container that cannot be found is reported once", async (engine) => {
  const dataDir = await Deno.makeTempDir();
  using client = connectEngine(engine.socketPath);
  const warnings: string[] = [];
  const log: Log = {
    debug() {},
    info() {},
    warn: (message) => void warnings.push(message),
    error() {},
  };
  try {
    const self = { ...HINT };
    const deps = { engine: client, config: testConfig({ dataDir }), log, self };
    await findOwnContainer(deps);
    await findOwnContainer(deps);

    equal(self.id, null);
    deepEqual(warnings, [
      "own container not found; it is not protected from actions through this service",
    ]);
    await using app = await liveApp(engine.socketPath, { config: { dataDir }, self: { ...HINT } });
    equal((await app.call("GET", "/api/health")).body.ownContainer, "unknown");
  } finally {
    await Deno.remove(dataDir);
  }
});
