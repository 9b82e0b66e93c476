import { deepEqual, throws } from "node:assert/strict";
import { assertNotData, findOwnData, pathsOfData } from "../../../services/files/own_data.ts";
import type { Container } from "../../../services/containers/inventory.ts";
import { simulateContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";

const mounting = (...mounts: Partial<Container["details"]["mounts"][number]>[]) =>
  ({ details: { mounts } }) as Container;

Deno.test("without a container, the service's data is its directory on the host", async () => {
  await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
  using app = testApp({ engine: fake.engine, config: { dataDir: "/var/lib/longshore" } });
  deepEqual(await findOwnData(app.deps), { directory: "/var/lib/longshore" });
});

Deno.test("the service's data is neither read nor changed, also with what is around it", () => {
  const data = pathsOfData(
    mounting({ type: "bind", source: "/var/lib", destination: "/host" }),
    { directory: "/var/lib/longshore" },
  );
  deepEqual(data, ["/host/longshore"]);
  deepEqual(
    pathsOfData(mounting({ type: "volume", name: "ls", destination: "/d" }), { volume: "ls" }),
    ["/d"],
  );
  assertNotData("/host", data, "read");
  assertNotData("/host/longshore2", data, "change");
  for (
    const [path, access] of [
      ["/host/longshore/secret.key", "read"],
      ["/host/longshore", "read"],
      ["/host", "change"],
    ] as const
  ) throws(() => assertNotData(path, data, access), { code: "forbidden" }, path);
});
