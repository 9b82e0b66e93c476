import { deepEqual, equal, rejects } from "node:assert/strict";
import type { Volume } from "../../../engine/volumes.ts";
import { assertNotOwn } from "../../../services/backup/volumes/own_data.ts";
import { directoryPart, volumePart } from "../../../services/backup/trees/part.ts";
import { contentsOfStack, contentsOfVolumes } from "../../../services/snapshots/contents.ts";
import { assertNoneOwn, assertNotOwnPath } from "../../../services/snapshots/own_path.ts";
import { composeLabels, containerOf, setContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testApp } from "../../helpers/test_app.ts";

const volumeOf = (Name: string) =>
  ({ Name, Mountpoint: `/docker/volumes/${Name}/_data` }) as Volume;

const mountOf = (name: string | null, source: string, destination: string) => ({
  ...{ type: name === null ? "bind" : "volume", name, source },
  ...{ destination, readOnly: false },
});

Deno.test("no snapshot has, shows or replaces the service's own data", async () => {
  await using fake = fakeEngine({
    "GET /volumes": () => Response.json({ Volumes: [volumeOf("ls"), volumeOf("other")] }),
  });
  const config = { dataDir: "/data", stackRoots: ["/opt", "/docker"] };
  using app = testApp({ engine: fake.engine, config });
  const labels = composeLabels("tools", "app");
  const { details } = containerOf({ name: "longshore" });
  setContainers(app, {
    name: "longshore",
    self: true,
    labels,
    details: {
      ...details,
      mounts: [
        mountOf("ls", "/docker/volumes/ls/_data", "/data"),
        mountOf("other", "/docker/volumes/other/_data", "/other"),
        mountOf(null, "/docker/volumes", "/volumes"),
        mountOf(null, "/opt/tools", "/opt"),
      ],
    },
  });
  const { parts, leftOut } = await contentsOfStack(app.deps, "tools");
  deepEqual(parts.map(({ path }) => path), ["/volumes/other", "/directories/opt/tools"]);
  deepEqual(leftOut, ["ls", "/docker/volumes"]);
  await rejects(contentsOfVolumes(app.deps, ["other", "ls"]), {
    code: "forbidden",
    message: /^\/volumes\/ls has the service's own data/,
  });
  equal((await contentsOfVolumes(app.deps, ["other"])).parts.length, 1);
  await rejects(assertNotOwn(app.deps, [directoryPart("/docker")]), { code: "forbidden" });
  await assertNotOwn(app.deps, [volumePart("other"), directoryPart("/opt/tools")]);

  for (
    const path of [
      ...["/volumes/ls", "/volumes/l%73/keys", "/directories/docker/volumes/ls/_data"],
      // As the real restic stores it.
      "/docker/volumes/ls/_data/keys",
    ]
  ) {
    await rejects(assertNotOwnPath(app.deps, path), { code: "forbidden" }, path);
    await rejects(assertNoneOwn(app.deps, [path]), { code: "forbidden" }, path);
  }
  for (const path of ["/directories/docker/volumes", "/docker"]) {
    await assertNotOwnPath(app.deps, path);
    await rejects(assertNoneOwn(app.deps, [path]), { code: "forbidden" }, path);
  }
  for (const path of ["/", "/volumes", "/volumes/other/ls", "/stacks/docker/volumes"]) {
    await assertNotOwnPath(app.deps, path);
  }
  await assertNoneOwn(app.deps, ["/volumes/other", "/directories/opt/tools", "/srv"]);
});
