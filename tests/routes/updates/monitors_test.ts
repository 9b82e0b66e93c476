import { deepEqual } from "node:assert/strict";
import { testApp } from "../../helpers/test_app.ts";

const body = { monitors: ["8e0c8d7e-0000-4000-8000-000000000000"] };

for (const action of ["update", "rollback"]) {
  Deno.test(`POST /api/containers/:id/${action} with monitors needs Pro and the right to read them`, async () => {
    const ask = async (
      edition: "ce" | "pro",
      options: Parameters<ReturnType<typeof testApp>["call"]>[3] = {},
    ) => {
      using app = testApp({ edition });
      const path = `/api/containers/web/${action}`;
      const { status, body: { error } } = await app.call("POST", path, body, options);
      return [status, error];
    };

    deepEqual(await ask("ce"), [402, "Uptime monitors need the Pro edition (uptime monitors)"]);
    deepEqual(await ask("pro", { scope: { permissions: ["containers:update"] } }), [
      403,
      "The role viewer or uptime:read is required for this",
    ]);
    deepEqual(await ask("pro"), [
      400,
      `body.monitors: monitor ${body.monitors[0]} does not exist`,
    ]);
  });
}
