import { equal, rejects } from "node:assert/strict";
import type { Engine } from "../../../../engine/client.ts";
import type { EngineInfo } from "../../../../engine/system.ts";
import type { Entry } from "../../../../services/backup/restic/entry.ts";
import { engineRoom, roomOf, whileThereIsRoom } from "../../../../services/updates/trial/room.ts";
import { type FakeEngine, fakeEngine } from "../../../helpers/fake_engine.ts";

const self = { isContainerized: false, id: null, hostname: null };

const depsOf = ({ engine }: FakeEngine) => ({ engine, self });

Deno.test("copies end before a file that does not fit", async () => {
  await using fake = fakeEngine({ "GET /info": () => Response.json({ DockerRootDir: "/" }) });
  const file = (size: number): Entry => ({
    ...{ path: "file", type: "file", mode: 0o644, uid: 0, gid: 0, mtime: 0n },
    size,
  });
  const link = { ...file(2 ** 60), hardLinkTo: "file" };
  const copied = whileThereIsRoom(
    depsOf(fake),
    ReadableStream.from([file(1), link, file(2 ** 60)]),
  );
  equal((await copied.next()).value?.size, 1);
  equal((await copied.next()).value, link, "a name takes no room");
  await rejects(copied.next(), { code: "conflict", message: /^The copies need/ });
});

Deno.test("a container sees the engine's disk at a mount from it, or at its root", async () => {
  const Source = "/tmp/volumes/data/_data";
  // Nothing is free there.
  const Destination = "/proc";
  const volume = { Type: "volume", Name: "data", Source, Destination };
  const roomIn = async (
    mounts: object[],
    { Driver = "overlayfs", Options = {}, id = "1" as string | null } = {},
  ) => {
    await using fake = fakeEngine({
      "GET /info": () => Response.json({ DockerRootDir: "/tmp", Driver }),
      "GET /containers/1/json": () => Response.json({ Id: "1", Mounts: mounts }),
      "GET /volumes": () =>
        Response.json({ Volumes: [{ Name: "data", Driver: "local", Options }] }),
    });
    const { engine } = fake;
    return await engineRoom({ engine, self: { ...self, isContainerized: true, id } });
  };
  equal(await roomIn([volume]), 0);
  equal(await roomIn([{ Type: "bind", Source: "/tmp/volumes", Destination }]), 0);
  // `/tmp` is there, and may be of another disk.
  equal(await roomIn([{ Type: "bind", Source: "/srv", Destination }]), undefined);
  equal(await roomIn([volume], { Options: { device: "nas:/data" } }), undefined);
  equal(await roomIn([volume], { id: null }), undefined);
  equal((await roomIn([], { Driver: "overlay2" }))! > 0, true);
});

Deno.test("the disk of an engine on another host is not taken for that of this one", async () => {
  const isSeen = async (address: string, host: string, isContainerized = false) => {
    const engine = { endpoint: { address } } as Engine;
    const info = { DockerRootDir: "/", Name: host } as EngineInfo;
    const hint = { ...self, isContainerized };
    return (await roomOf({ engine, self: hint }, info)) !== undefined;
  };
  equal(await isSeen("/run/docker.sock", "other"), true);
  equal(await isSeen("tcp://10.0.0.2:2375", "other"), false);
  equal(await isSeen("tcp://10.0.0.2:2375", Deno.hostname()), true);
  equal(await isSeen("/run/docker.sock", "other", true), false);
  equal(await isSeen("/run/docker.sock", Deno.hostname(), true), true, "engine in the container");
});
