import { deepEqual, equal, match } from "node:assert/strict";
import { runHere } from "../helpers/command.ts";
import { startLongshore } from "../helpers/longshore.ts";

Deno.test("healthcheck checks the service that has the same configuration", async () => {
  await using longshore = await startLongshore();
  const env = { HOST: "127.0.0.1", PORT: new URL(longshore.baseUrl).port };
  const ready = await runHere(["healthcheck"], { env });
  deepEqual([ready.code, ready.stdout], [0, "ready\n"]);
  const found = await runHere(["healthcheck"], { env: { DATA_DIR: longshore.dataDir } });
  deepEqual([found.code, found.stdout], [0, "ready\n"]);

  equal(await longshore.stop(), 0);
  const gone = await runHere(["healthcheck"], { env });
  equal(gone.code, 1);
  match(gone.stdout, /^not ready: /);
});
