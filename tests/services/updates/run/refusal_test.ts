import { equal } from "node:assert/strict";
import type { ContainerInspect } from "../../../../engine/containers.ts";
import { EngineError } from "../../../../engine/errors.ts";
import { withoutValues } from "../../../../services/updates/run/refusal.ts";

const container = {
  Config: { Env: ["PASSWORD=hunter22", "LONGER=hunter22-and-more", "N=1"] },
  HostConfig: { LogConfig: { Type: "x", Config: { token: "t0ken" } } },
} as unknown as ContainerInspect;

Deno.test("a message of the engine has no values of the environment and of driver options", () => {
  const error = new EngineError(
    400,
    "1 invalid variable: LONGER=hunter22-and-more, PASSWORD=hunter22 (t0ken)",
  );
  equal(
    (withoutValues(error, container) as Error).message,
    "1 invalid variable: LONGER=********, PASSWORD=******** (********)",
  );
});

Deno.test("a message without such values, and an unexpected error, stay as they are", () => {
  for (const error of [new EngineError(409, "port is in use"), new TypeError("hunter22")]) {
    equal(withoutValues(error, container), error);
  }
});
