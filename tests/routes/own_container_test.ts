import { deepEqual, equal, notEqual } from "node:assert/strict";
import { idOf, simulateContainers } from "../helpers/fake_containers.ts";
import { grant } from "../helpers/custom_roles.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { testApp } from "../helpers/test_app.ts";

const OWN = [
  ["GET", "/api/containers/longshore"],
  ["GET", "/api/containers/longshore/inspect"],
  ["GET", "/api/containers/longshore/changes"],
  ["GET", "/api/containers/longshore/logs"],
  ["GET", "/api/containers/longshore/logs/search?q=lsk_"],
  ["POST", "/api/containers/longshore/exec", { command: "ps aux" }],
] as const;

const SENTENCE = "longshore is the service's own container; its details, logs and exec require " +
  "the role admin";

const play = () =>
  fakeEngine({
    ...simulateContainers([{ name: "longshore" }, { name: "web" }]),
    "GET /containers/*/logs": () => new Response(),
  });

const self = { id: idOf("longshore"), hostname: null };

for (const [method, path, body] of OWN) {
  Deno.test(`${method} ${path} is for admins only, regardless of custom roles`, async () => {
    await using fake = play();
    using app = testApp({ engine: fake.engine, self, edition: "enterprise" });
    await grant(app, "key", ["containers:read", "containers:logs", "containers:exec"]);

    for (const role of ["viewer", "operator"] as const) {
      const refused = await app.call(method, path, body, { role });
      deepEqual([refused.status, refused.body.error], [403, SENTENCE]);
    }
    const asked = fake.requests.filter((request) => /logs|exec/.test(request));
    deepEqual(asked, []);
    notEqual((await app.call(method, path, body)).status, 403);
  });
}

Deno.test("other containers stay readable for viewers", async () => {
  await using fake = play();
  using app = testApp({ engine: fake.engine, self });
  for (const path of ["/api/containers/web", "/api/containers/web/logs", "/api/containers"]) {
    equal((await app.call("GET", path, undefined, { role: "viewer" })).status, 200, path);
  }
});
