import { deepEqual, equal, ok } from "node:assert/strict";
import { connectEngine } from "../../engine/client.ts";
import { findOwnContainer } from "../../services/containers/self_search.ts";
import { type Log, silentLog } from "../../services/log.ts";
import { startEngineProxy } from "../helpers/engine_proxy.ts";
import { liveApp } from "../helpers/live_app.ts";
import { until } from "../helpers/until.ts";
import { BUSYBOX, privateEngineTest, type RealEngine } from "../helpers/real_engine.ts";

const SLEEP = ["sleep", "2147483647"];

/** As with host networking: the process knows neither its container id nor a host name. */
const HINT = { isContainerized: true, id: null, hostname: "the-host" };

privateEngineTest(
  "the own container is found by its log, without a request for files, and cannot be stopped",
  async (engine) => {
    const name = `longshore-test-self-${crypto.randomUUID().slice(0, 8)}`;
    const other = `${name}-other`;
    const run = (name: string) =>
      engine.docker("run", "--detach", `--name=${name}`, "--network=host", BUSYBOX, ...SLEEP);
    await using proxy = startEngineProxy(engine.socketPath, engine.sandbox.directory);
    const paths: string[] = [];
    proxy.observe(({ path }) => void paths.push(path));
    try {
      const id = await run(name);
      await run(other);
      const log: Log = {
        ...silentLog,
        always: (_, { marker } = {}) => logIn(engine, name, String(marker)),
      };
      await using app = await liveApp(proxy.socketPath, { log, self: { ...HINT } });

      await until("the own container is known", async () => {
        const { body } = await app.call("GET", "/api/health");
        return body.ownContainer === "known" && app.deps.inventory.get(id)?.self === true;
      });
      equal(app.deps.self.id, id);
      deepEqual(paths.filter((path) => path.endsWith("/archive")), []);
      for (const action of ["stop", "restart", "rebuild"]) {
        equal((await app.call("POST", `/api/containers/${name}/${action}`)).status, 403, action);
      }
    } finally {
      await engine.docker("rm", "--force", name, other);
    }
  },
);

/** Returns when the engine has the line in the log of the container, as if its process had logged it. */
function logIn({ socketPath }: RealEngine, container: string, line: string): void {
  const script = `docker exec "$1" sh -c "echo found $2 > /proc/1/fd/2"
    until docker logs "$1" 2>&1 | grep -q "$2"; do sleep 0.05; done`;
  const { success } = new Deno.Command("sh", {
    args: ["-euc", script, "sh", container, line],
    env: { DOCKER_HOST: `unix://${socketPath}` },
  }).outputSync();
  ok(success);
}

privateEngineTest("an own container that cannot be found is reported once", async (engine) => {
  using client = connectEngine(engine.socketPath);
  const warnings: string[] = [];
  const log: Log = { ...silentLog, warn: (message) => void warnings.push(message) };
  const self = { ...HINT };
  const now = () => new Date();
  await findOwnContainer({ engine: client, log, now, self });
  await findOwnContainer({ engine: client, log, now, self });

  equal(self.id, null);
  deepEqual(warnings, [
    "own container not found; it is not protected from actions through this service",
  ]);
  await using app = await liveApp(engine.socketPath, { self: { ...HINT } });
  equal((await app.call("GET", "/api/health")).body.ownContainer, "unknown");
});
