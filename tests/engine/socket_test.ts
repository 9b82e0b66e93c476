import { deepEqual, equal, ok, rejects } from "node:assert/strict";
import { dirname } from "node:path";
import { findEngineSocket } from "../../engine/socket.ts";
import { leaveSocket } from "../helpers/fake_engine.ts";

/** A directory with sockets that have no listener. */
function directoryWith(...sockets: string[]) {
  const path = Deno.realPathSync(Deno.makeTempDirSync());
  for (const socket of sockets) {
    Deno.mkdirSync(dirname(`${path}/${socket}`), { recursive: true });
    leaveSocket(`${path}/${socket}`);
  }
  return { path, [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }) };
}

/** The host's own sockets come first; if one exists, the others are not checked. */
const hostHasSocket = ["/var/run/docker.sock"].some((path) => {
  try {
    return Deno.statSync(path).isSocket;
  } catch {
    return false;
  }
});

Deno.test("DOCKER_HOST names the socket, present or not, without symbolic links", async () => {
  using directory = directoryWith("real/engine.sock");
  Deno.symlinkSync(`${directory.path}/real`, `${directory.path}/link`);
  const found = (name: string) =>
    findEngineSocket({ dockerHost: `unix://${directory.path}/${name}` });

  deepEqual(await found("link/engine.sock"), {
    socketPath: `${directory.path}/real/engine.sock`,
    source: "environment",
  });
  equal((await found("link/later.sock")).socketPath, `${directory.path}/real/later.sock`);
  equal((await found("no/such/place.sock")).socketPath, `${directory.path}/no/such/place.sock`);
});

for (
  const dockerHost of [
    "tcp://127.0.0.1:2375",
    "ssh://host",
    "npipe:////./pipe/docker_engine",
    "/var/run/docker.sock",
    "unix://relative.sock",
    "unix://",
  ]
) {
  Deno.test(`DOCKER_HOST ${dockerHost} is refused with a hint on what is allowed`, async () => {
    await rejects(findEngineSocket({ dockerHost }), {
      message: `DOCKER_HOST is "${dockerHost}", but only the engine of this host can be managed, ` +
        "through a socket such as unix:///var/run/docker.sock",
    });
  });
}

for (
  const { place, source, options } of [
    {
      place: "docker.sock",
      source: "rootless docker",
      options: (path: string) => ({ xdgRuntimeDir: path }),
    },
    {
      place: ".docker/run/docker.sock",
      source: "rootless docker",
      options: (path: string) => ({ home: path }),
    },
  ]
) {
  Deno.test({
    name: `a rootless engine is found at ${place}`,
    ignore: hostHasSocket,
    async fn() {
      using directory = directoryWith(place);
      deepEqual(await findEngineSocket(options(directory.path)), {
        socketPath: `${directory.path}/${place}`,
        source,
      });
    },
  });
}

Deno.test("a regular file is not used as a socket", async () => {
  using directory = directoryWith();
  Deno.writeTextFileSync(`${directory.path}/docker.sock`, "");
  const { socketPath } = await findEngineSocket({ xdgRuntimeDir: directory.path });
  ok(!socketPath.startsWith(directory.path));
});

Deno.test({
  name: "without any engine the usual place is answered, since one may come up later",
  ignore: hostHasSocket,
  async fn() {
    const { socketPath, source } = await findEngineSocket({});
    if (source === "default") ok(socketPath.endsWith("/run/docker.sock"));
    else equal(source, "podman");
  },
});
