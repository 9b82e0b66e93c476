import { equal, match, ok } from "node:assert/strict";
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

  equal(await found("link/engine.sock"), `${directory.path}/real/engine.sock`);
  equal(await found("link/later.sock"), `${directory.path}/real/later.sock`);
  equal(await found("no/such/place.sock"), `${directory.path}/no/such/place.sock`);
});

for (
  const { place, options } of [
    {
      place: "docker.sock",
      options: (path: string) => ({ xdgRuntimeDir: path }),
    },
    {
      place: ".docker/run/docker.sock",
      options: (path: string) => ({ home: path }),
    },
  ]
) {
  Deno.test({
    name: `a rootless engine is found at ${place}`,
    ignore: hostHasSocket,
    async fn() {
      using directory = directoryWith(place);
      equal(await findEngineSocket(options(directory.path)), `${directory.path}/${place}`);
    },
  });
}

Deno.test("a regular file is not used as a socket", async () => {
  using directory = directoryWith();
  Deno.writeTextFileSync(`${directory.path}/docker.sock`, "");
  const socketPath = await findEngineSocket({ xdgRuntimeDir: directory.path });
  ok(!socketPath.startsWith(directory.path));
});

Deno.test({
  name: "without any engine the usual place is answered, since one may come up later",
  ignore: hostHasSocket,
  async fn() {
    match(await findEngineSocket({}), /\/run\/(docker|podman\/podman)\.sock$/);
  },
});
