/**
 * Calls every endpoint of the real program with its shipped permissions: no request may answer 5xx.
 *
 * @module
 */

import { equal, match, ok } from "node:assert/strict";
import { checkEveryGet, operationsOf, request } from "../../deploy/build/endpoint_check.ts";
import { assertDocumented } from "../helpers/documented.ts";
import { idOf } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { EXECUTABLE } from "../helpers/program.ts";
import { exampleOf } from "./endpoint_walk.ts";
import { plantedSecrets } from "./planted_secrets.ts";
import { engineOf } from "./planted_service.ts";

// `compile.sh` has checked its executable in the same way.
if (EXECUTABLE === undefined) {
  Deno.test("every GET endpoint answers without an engine", async () => {
    await using longshore = await startLongshore();
    await longshore.call("POST", "/api/edition/trial", {});

    const { count, failures } = await checkEveryGet(longshore.baseUrl, await longshore.token(), {
      engine: false,
    });

    ok(count > 100, `${count} endpoints`);
    equal(failures.join("\n"), "");
  });
}

/** Endpoints whose examples name servers that do not exist. */
const ASKS_OTHERS = [
  "POST /api/identity/oidc/{id}/test",
  "POST /api/git/repositories/{id}/fetch",
];

Deno.test("no endpoint fails when it is called with the examples of its documentation", async () => {
  await using fake = fakeEngine(engineOf(plantedSecrets()));
  await using longshore = await startLongshore({
    engineSocket: fake.socketPath,
    env: { MTLS_VERIFY_SECRET: crypto.randomUUID() },
  });
  await longshore.call("POST", "/api/edition/trial", {});
  const token = await longshore.token();
  // After it, every other response would be 401.
  const operations = (await operationsOf(longshore.baseUrl))
    .filter(({ path }) => path !== "/auth/logout");
  const ids = new Map([["/api/containers", idOf("web")], ["/api/stacks", "shop"]]);

  const failures: string[] = [];
  const statuses = new Map<number, number>();
  for (const method of ["POST", "GET", "PUT", "DELETE"]) {
    for (const operation of operations.filter((each) => each.method === method)) {
      const [collection] = operation.path.split("/{");
      const id = ids.get(collection!);
      const path = id === undefined ? undefined : operation.path.replace(/\{\w+\}/, id);
      const schema = operation.description.requestBody?.content["application/json"]?.schema;
      const { status, text, type } = await request(longshore.baseUrl, token, operation, {
        ...(path !== undefined && !path.includes("{") && { path }),
        ...(schema !== undefined && { body: exampleOf(schema) }),
      });
      const isJson = type.startsWith("application/json") && text !== "";
      assertDocumented({ ...operation, status, type, body: isJson ? JSON.parse(text) : text });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (
        status >= 500 && !(status === 502 && ASKS_OTHERS.includes(`${method} ${operation.path}`))
      ) {
        failures.push(`${method} ${operation.path}: ${status} ${text}`);
      }
      if (status === 201) ids.set(operation.path, JSON.parse(text).id);
    }
  }

  equal(failures.join("\n"), "");
  const succeeded = (statuses.get(200) ?? 0) + (statuses.get(201) ?? 0);
  ok(succeeded > operations.length / 2, JSON.stringify([...statuses]));
  const { body } = await longshore.call("GET", "/metrics", undefined, { token });
  match(body, /^node_uname_info\{.*release="[^"]+"/m);
});
