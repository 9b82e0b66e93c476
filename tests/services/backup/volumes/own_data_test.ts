import { deepEqual, equal, match, rejects, throws } from "node:assert/strict";
import {
  assertNotData,
  findOwnData,
  ownDataCheck,
  pathsOfData,
} from "../../../../services/backup/volumes/own_data.ts";
import { groupOf, planUndo } from "../../../../services/updates/data/plan.ts";
import { volumePlace } from "../../../../services/files/volume_place.ts";
import type { Volume } from "../../../../engine/volumes.ts";
import type { Container } from "../../../../services/containers/inventory.ts";
import {
  containerOf,
  setContainers,
  simulateContainers,
} from "../../../helpers/fake_containers.ts";
import { temporaryDirectory } from "../../../helpers/command.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { testApp } from "../../../helpers/test_app.ts";

type Mount = Container["details"]["mounts"][number];

const mounting = (mount: Partial<Mount>) =>
  ({ details: { mounts: [{ name: null, ...mount }] } }) as Container;

const volumeOf = (Name: string, device?: string) =>
  ({
    Name,
    Mountpoint: `/docker/volumes/${Name}/_data`,
    Options: device ? { device } : null,
  }) as Volume;

Deno.test("without a container, the service's data is its directory on the host", async () => {
  await using fake = fakeEngine(simulateContainers([{ name: "web" }]));
  using app = testApp({ engine: fake.engine, config: { dataDir: "/var/lib/longshore" } });
  deepEqual(await findOwnData(app.deps), { volume: null, directories: ["/var/lib/longshore"] });

  const top = await Deno.makeTempDir({ prefix: "longshore-test-data-" });
  const [real, link] = [`${top}/real`, `${top}/link`];
  await Deno.mkdir(real);
  await Deno.symlink(real, link);
  app.deps.config.dataDir = link;
  deepEqual(await findOwnData(app.deps), { volume: null, directories: [link, real] });
  await Deno.remove(top, { recursive: true });
});

Deno.test("data in a volume is known by its directories on the host, too", async () => {
  await using fake = fakeEngine({
    "GET /volumes": () => Response.json({ Volumes: [volumeOf("ls", "/srv/ls/")] }),
  });
  using app = testApp({ engine: fake.engine, config: { dataDir: "/data/longshore" } });
  const { details } = containerOf({ name: "longshore" });
  const mount: Mount = {
    ...{ type: "volume", name: "ls", source: "/docker/volumes/ls/_data" },
    ...{ destination: "/data", readOnly: false },
  };
  setContainers(app, { name: "longshore", self: true, details: { ...details, mounts: [mount] } });
  deepEqual(await findOwnData(app.deps), {
    volume: "ls",
    directories: ["/docker/volumes/ls/_data/longshore", "/srv/ls/longshore"],
  });
});

for (
  const [mount, paths] of [
    [{ type: "bind", source: "/", destination: "/rootfs" }, [
      "/rootfs/docker/volumes/ls/_data",
      "/rootfs/srv/ls",
    ]],
    [{ type: "bind", source: "/srv", destination: "/host" }, ["/host/ls"]],
    [{ type: "bind", source: "/srv/ls/keys", destination: "/keys" }, ["/keys"]],
    [{ type: "bind", source: "/srv/ls2", destination: "/other" }, []],
    [{ type: "volume", name: "ls", source: "/elsewhere", destination: "/d" }, ["/d"]],
    [{ type: "volume", name: "all", source: "/docker/volumes/all/_data", destination: "/d" }, [
      "/d/volumes/ls/_data",
    ]],
    [{ type: "tmpfs", source: "", destination: "/tmp" }, []],
  ] as const
) {
  Deno.test(`the service's data is at ${paths.join(", ") || "no path"} of a container with ${mount.source || mount.type}`, async () => {
    const data = { volume: "ls", directories: ["/docker/volumes/ls/_data", "/srv/ls"] };
    const volumes = [volumeOf("ls", "/srv/ls"), volumeOf("all", "/docker")];
    deepEqual(await pathsOfData(mounting(mount), data, volumes), paths);
  });
}

Deno.test("symbolic links do not hide the service's directory", async () => {
  using top = temporaryDirectory();
  const at = (path: string) => `${top.path}/${path}`;
  await Deno.mkdir(at("lib/ls/keys"), { recursive: true });
  await Deno.mkdir(at("lib/other"));
  for (const [link, target] of [["data", "lib/ls"], ["around", "lib"], ["keys", "lib/ls/keys"]]) {
    await Deno.symlink(target!, at(link!));
  }
  const own = ["data", "around", "around/ls", "keys"];
  const volumes = [...own, "around/other"].map((path) =>
    volumeOf(encodeURIComponent(path), at(path))
  );
  await using fake = fakeEngine({
    ...simulateContainers([]),
    "GET /volumes": () => Response.json({ Volumes: volumes }),
  });
  using app = testApp({ engine: fake.engine, config: { dataDir: at("lib/ls") } });
  const isOwn = await ownDataCheck(app.deps);
  for (const path of own) {
    equal(await isOwn({ type: "bind", source: at(path) }), true, path);
    equal(await isOwn({ type: "volume", source: encodeURIComponent(path) }), true, path);
  }
  equal(await isOwn({ type: "bind", source: at("around/other") }), false);
  const data = await findOwnData(app.deps);
  const bind = { type: "bind", source: at("around"), destination: "/host" };
  deepEqual(await pathsOfData(mounting(bind), data, []), ["/host/ls"]);
  const { assertAllowed } = await volumePlace(app.deps, "around", new AbortController().signal);
  throws(() => assertAllowed("ls/secret.key", "read"), { code: "forbidden" });
});

Deno.test("an undo does not bring back the service's own volume", async () => {
  await using fake = fakeEngine({
    "GET /volumes": () => Response.json({ Volumes: [volumeOf("ls")] }),
    "GET /system/df": () => Response.json({ Volumes: [] }),
  });
  using app = testApp({ engine: fake.engine, config: { dataDir: "/data" } });
  const { details } = containerOf({ name: "longshore" });
  const mounts = [{
    ...{ type: "volume", name: "ls", source: "/docker/volumes/ls/_data" },
    ...{ destination: "/data", readOnly: false },
  }];
  setContainers(
    app,
    { name: "longshore", self: true, details: { ...details, mounts } },
    { name: "agent", details: { ...details, mounts } },
  );
  const stopped = app.deps.inventory.list().filter(({ self }) => !self);
  const { obstacles } = await planUndo(app.deps, [groupOf(stopped)]);
  match(obstacles.map(({ message }) => message).join(), /\/volumes\/ls has the service's own data/);
});

Deno.test("a volume is refused as far as it has the service's directory", async () => {
  await using fake = fakeEngine({
    ...simulateContainers([]),
    "GET /volumes": () =>
      Response.json({ Volumes: [volumeOf("all", "/var/lib"), volumeOf("own", "/var/lib/ls/")] }),
  });
  using app = testApp({ engine: fake.engine, config: { dataDir: "/var/lib/ls" } });
  const { signal } = new AbortController();
  await rejects(volumePlace(app.deps, "own", signal), { code: "forbidden" });
  const { assertAllowed } = await volumePlace(app.deps, "all", signal);
  assertAllowed("other", "change");
  throws(() => assertAllowed("ls/secret.key", "read"), { code: "forbidden" });
});

Deno.test("the service's data is neither read nor changed, also with what is around it", () => {
  const data = ["/host/longshore"];
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
