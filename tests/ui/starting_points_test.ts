import { deepEqual, equal, match, ok } from "node:assert/strict";
import {
  environmentOf,
  stackNameOf,
  STARTING_POINTS,
} from "../../ui/pages/stacks/starting_points/mod.ts";
import { testApp } from "../helpers/test_app.ts";

for (const point of STARTING_POINTS) {
  Deno.test(`the example ${point.name} is valid as it stands, pinned, and proves its health`, async () => {
    using app = testApp();
    const env = environmentOf(point, () => "made-password");
    const { status, body } = await app.call("POST", "/api/stacks/validate", {
      compose: point.compose,
      env,
    });

    equal(status, 200);
    deepEqual([body.errors, body.warnings], [[], []]);
    // deno-lint-ignore no-explicit-any
    for (const service of Object.values<any>(body.resolved.services)) {
      match(service.image, /:v?\d+\.\d+/);
      ok(service.healthcheck?.test, `${service.image} has no health check`);
      ok(service.restart, `${service.image} stays down after a restart of the host`);
    }
    match(point.compose, /^# [A-Z].*\.\n/);
  });
}

Deno.test("the variables of an example get a made password", () => {
  const point = STARTING_POINTS.find(({ name }) => name === "PostgreSQL")!;
  equal(environmentOf(point, () => "abc"), "POSTGRES_PASSWORD=abc\n");
});

Deno.test("an example proposes a name for its stack", () => {
  deepEqual(STARTING_POINTS.map(stackNameOf), [
    "web-server",
    "reverse-proxy",
    "web-application",
    "postgresql",
    "mariadb",
    "cache",
    "monitoring",
    "git-server",
    "registry",
    "message-broker",
  ]);
});
