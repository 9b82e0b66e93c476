import { equal } from "node:assert/strict";
import type { ContainerInspect } from "../../../engine/containers.ts";
import { EngineError, EngineUnreachableError } from "../../../engine/errors.ts";
import {
  hideValues,
  optionValues,
  valuesOf,
  withoutValues,
} from "../../../services/containers/secret_values.ts";

const values = valuesOf({
  Config: { Env: ["PASSWORD=hunter22", "LONGER=hunter22-and-more", "N=1"] },
  HostConfig: { LogConfig: { Type: "x", Config: { token: "t0ken" } } },
} as unknown as ContainerInspect);

Deno.test("a message of the engine has no values of the environment and of driver options", () => {
  const error = new EngineError(
    400,
    "1 invalid variable: LONGER=hunter22-and-more, PASSWORD=hunter22 (t0ken)",
  );
  equal(
    (withoutValues(error, values) as Error).message,
    "1 invalid variable: LONGER=********, PASSWORD=******** (********)",
  );
});

Deno.test("a message without such values, and an unexpected error, stay as they are", () => {
  for (
    const error of [
      new EngineError(409, "port is in use"),
      new TypeError("hunter22"),
      // Its kind decides whether a job goes on later.
      new EngineUnreachableError("hunter22"),
    ]
  ) {
    equal(withoutValues(error, values), error);
  }
});

Deno.test("a message about a mount has no options of the volume, also unknown ones", () => {
  const message = "failed to mount local volume: mount //nas/share:/v/_data, " +
    "data: addr=192.0.2.1,pass=a: b,c: connection refused";
  equal(
    hideValues(message, []),
    "failed to mount local volume: mount //nas/share:/v/_data, data: ********: connection refused",
  );
  const options = optionValues({
    type: "cifs",
    device: "//nas/share",
    o: "addr=nas.test,username=adam,pass=hunter22",
  });
  equal(
    hideValues("mount -t cifs -o addr=192.0.2.1,username=adam,pass=hunter22 //nas/share", options),
    "mount -t cifs -o addr=192.0.2.1,username=********,pass=******** //nas/share",
  );
});

Deno.test("a long message about a container with thousands of variables is not searched", () => {
  const many = Array.from({ length: 15_000 }, (_, at) => `value-${at}`);
  const text = "A".repeat(60_000);
  equal(
    hideValues(text, many),
    "The engine's message is too long to be searched for secret values",
  );
  equal(hideValues(`value-14999 in ${"A".repeat(100)}`, many), `******** in ${"A".repeat(100)}`);
});
