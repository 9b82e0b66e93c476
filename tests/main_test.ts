import { equal, match, ok } from "node:assert/strict";
import { startLongshore } from "./helpers/longshore.ts";

Deno.test("the program starts without an engine, and a second start keeps its data", async () => {
  const env = { API_KEY: "a key that is given, not made at the first start" };
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-test-data-" });
  try {
    let refreshToken: string;
    {
      await using longshore = await startLongshore({ dataDir, env });
      equal((await longshore.call("GET", "/livez", undefined, { token: null })).status, 200);
      equal((await longshore.call("GET", "/api/containers")).status, 503);
      const { body } = await longshore.call("POST", "/auth/token", { apiKey: longshore.apiKey });
      refreshToken = body.refreshToken;
      await longshore.kill9();
    }
    await using longshore = await startLongshore({ dataDir, env });
    const { status } = await longshore.call("POST", "/auth/refresh", { refreshToken });
    equal(status, 200);
    match(longshore.stdout(), /listens on/);
    ok(!longshore.stdout().includes(longshore.apiKey), "a given key is not printed");
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
});
