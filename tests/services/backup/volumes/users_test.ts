import { deepEqual } from "node:assert/strict";
import type { Container } from "../../../../services/containers/inventory.ts";
import { containersUsing } from "../../../../services/backup/volumes/users.ts";
import { contentsOfVolumes } from "../../../../services/snapshots/contents.ts";
import { containerOf, setContainers } from "../../../helpers/fake_containers.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { testApp } from "../../../helpers/test_app.ts";

const VOLUMES = "/var/lib/docker/volumes";
const VOLUME = {
  Name: "data",
  Driver: "local",
  Mountpoint: `${VOLUMES}/data/_data`,
  Options: null,
};

type Mount = Container["details"]["mounts"][number];

function withMounts(name: string, mounts: Partial<Mount>[], self = false): Container {
  const container = containerOf({ name, self });
  const all = mounts.map((mount) => ({
    type: "bind",
    name: null,
    source: "",
    destination: "/mounted",
    readOnly: false,
    ...mount,
  }));
  return { ...container, details: { ...container.details, mounts: all } };
}

const named = { type: "volume", name: "data", source: VOLUME.Mountpoint };

Deno.test("readers of all volumes and Longshore around a volume are not its users", async () => {
  await using fake = fakeEngine({
    "GET /volumes/data": () => Response.json(VOLUME),
    "GET /volumes": () => Response.json({ Volumes: [VOLUME] }),
  });
  using app = testApp({ engine: fake.engine });
  setContainers(
    app,
    withMounts("cadvisor", [{ source: "/", readOnly: true }]),
    withMounts("exporter", [{ source: VOLUMES, readOnly: true }]),
    withMounts("longshore", [{ source: VOLUMES }, { source: "/srv" }], true),
    withMounts("named", [{ ...named, readOnly: true }, { source: "/", readOnly: true }]),
    withMounts("same", [{ source: VOLUME.Mountpoint, readOnly: true }]),
    withMounts("within", [{ source: `${VOLUME.Mountpoint}/logs`, readOnly: true }]),
    withMounts("writer", [{ source: VOLUMES }]),
    withMounts("other", [{ source: `${VOLUME.Mountpoint}-other` }]),
  );
  const users = ["named", "same", "within", "writer"];
  const namesOf = (containers: Container[]) => containers.map(({ name }) => name).sort();
  deepEqual(namesOf(await containersUsing(app.deps, [{ type: "volume", source: "data" }])), users);
  deepEqual(namesOf((await contentsOfVolumes(app.deps, ["data"])).containers), users);
  deepEqual(
    namesOf(await containersUsing(app.deps, [{ type: "bind", source: "/srv/shop" }])),
    [],
  );
  setContainers(app, withMounts("longshore", [named, { source: VOLUMES }], true));
  deepEqual(
    namesOf(await containersUsing(app.deps, [{ type: "volume", source: "data" }])),
    ["longshore"],
  );
});
