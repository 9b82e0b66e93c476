import { equal } from "node:assert/strict";
import { durationOf, mostlyWithin } from "../helpers/in_time.ts";
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
  await mostlyWithin(1_000, "a stop", async () => {
    await real.docker("start", container.id);
    await until("it is shown as running", async () => await state() === "running");
    await real.docker("stop", container.id);
    return await durationOf(() =>
      until("the stop is shown", async () => await state() === "exited")
    );
  });
});
