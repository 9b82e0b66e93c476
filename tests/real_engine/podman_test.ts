/** The whole program on Podman's socket, once. @module */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { durationOf, mostlyWithin } from "../helpers/in_time.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { podmanTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

podmanTest(
  "the program lists, starts, stops, reads and follows Podman's containers",
  async (engine) => {
    await using container = await engine.runContainer({
      command: ["sh", "-c", "trap 'exit 0' TERM; echo ahoy; sleep 2147483647 & wait"],
    });
    await using program = await startLongshore({ engineSocket: engine.socketPath });
    const path = `/api/containers/${container.name}`;
    const state = async () =>
      (await program.call("GET", `/api/containers?name=${container.name}`)).body.containers?.[0]
        ?.state;

    await until("it is listed as running", async () => await state() === "running");
    const detail = await program.call("GET", path);
    deepEqual([detail.status, detail.body.id, detail.body.name], [
      200,
      container.id,
      container.name,
    ]);
    const logs = await until("its log is there", async () => {
      const { lines } = (await program.call("GET", `${path}/logs`)).body;
      return lines.length ? lines : undefined;
    });
    match(logs[0], /^\d{4}-\d\d-\d\dT\S+ ahoy$/);
    const exec = await program.call("POST", `${path}/exec`, { command: "id" });
    equal(exec.status, 200);
    match(exec.body.stdout, /uid=0/);

    const stop = await program.call("POST", `${path}/stop?t=2`);
    deepEqual([stop.status, stop.body.state], [200, "exited"]);
    equal(await state(), "exited");
    await mostlyWithin(1_000, "a stop by others", async () => {
      const start = await program.call("POST", `${path}/start`);
      deepEqual([start.status, start.body.state], [200, "running"]);
      equal(await state(), "running");
      await engine.docker("stop", "--time", "1", container.id);
      return await durationOf(() =>
        until("a stop by others is seen", async () => await state() === "exited")
      );
    }, { tries: 3 });
    const { body } = await program.call("GET", "/api/overview");
    ok(body.engine.reachable);
  },
);
