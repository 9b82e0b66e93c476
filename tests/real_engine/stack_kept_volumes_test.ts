/** Anonymous volumes of images that the new image of a service does not declare. @module */

import { deepEqual, equal } from "node:assert/strict";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, engineTest } from "../helpers/real_engine.ts";
import { actionsOf, sleeper, testStack } from "../helpers/test_stack.ts";

long(engineTest)("the anonymous volume of an image stays with the next images", async (real) => {
  await using app = await liveApp(real.socketPath);
  await using stack = testStack(app, real);
  const image = `${stack.name}-volume:1`;
  const base = await real.docker("create", BUSYBOX);
  await real.docker("commit", "--change", "VOLUME /data", base, image);
  await real.docker("rm", base);
  const exec = (...command: string[]) => real.docker("exec", `${stack.name}-db-1`, ...command);
  try {
    await stack.store({ services: { db: { ...sleeper, image } } });
    equal((await stack.deploy()).status, "succeeded");
    await exec("sh", "-c", "echo precious > /data/file");

    // Without `VOLUME`, again with another setting, and with it again.
    for (
      const db of [
        { ...sleeper },
        { ...sleeper, environment: { A: "1" } },
        { ...sleeper, image },
        { ...sleeper },
      ]
    ) {
      await stack.store({ services: { db } });
      const job = await stack.deploy();
      equal(job.status, "succeeded", job.error ?? "");
      equal(await exec("cat", "/data/file"), "precious");
      deepEqual(actionsOf(await stack.plan()), ["service db none"]);
    }

    await stack.store({ services: { db: { ...sleeper, tmpfs: ["/data"] } } });
    equal((await stack.deploy()).status, "succeeded");
    equal(await exec("ls", "/data"), "");
    deepEqual(actionsOf(await stack.plan()), ["service db none"]);
  } finally {
    await stack.down();
    await real.docker("rmi", "-f", image);
  }
});
