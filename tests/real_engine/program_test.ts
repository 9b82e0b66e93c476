import { deepEqual, equal, match, ok } from "node:assert/strict";
import { startLongshore } from "../helpers/longshore.ts";
import { engineTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

engineTest("the program shows a container and stops it", async (real) => {
  await using container = await real.runContainer();
  await using longshore = await startLongshore({ engineSocket: real.socketPath });
  const listed = async () => {
    const { status, body } = await longshore.call("GET", "/api/containers");
    equal(status, 200);
    // deno-lint-ignore no-explicit-any
    return body.containers.find(({ id }: any) => id === container.id);
  };

  equal((await listed()).state, "running");
  const stopped = await longshore.call("POST", `/api/containers/${container.id}/stop`);
  equal(stopped.status, 200);
  equal((await listed()).state, "exited");

  equal(await longshore.stop(), 0);
});

engineTest("a stop by the engine's own command line is shown within a second", async (real) => {
  await using container = await real.runContainer();
  await using longshore = await startLongshore({ engineSocket: real.socketPath });
  const state = async () =>
    (await longshore.call("GET", `/api/containers/${container.id}`)).body.state;
  equal(await state(), "running");

  await real.docker("stop", container.id);

  await until("the stop is shown", async () => await state() === "exited", { deadlineMs: 1_000 });
});

Deno.test("the program starts without an engine, and a second start keeps its data", async () => {
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-test-data-" });
  try {
    let refreshToken: string;
    {
      await using longshore = await startLongshore({ dataDir });
      deepEqual((await longshore.call("GET", "/livez", undefined, { token: null })).status, 200);
      equal((await longshore.call("GET", "/api/containers")).status, 503);
      const { body } = await longshore.call("POST", "/auth/token", { apiKey: longshore.apiKey });
      refreshToken = body.refreshToken;
      await longshore.kill9();
    }
    await using longshore = await startLongshore({ dataDir });
    const { status } = await longshore.call("POST", "/auth/refresh", { refreshToken });
    equal(status, 200);
    match(longshore.stdout(), /listens on/);
    ok(!longshore.stdout().includes(longshore.apiKey), "a given key is not printed");
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
