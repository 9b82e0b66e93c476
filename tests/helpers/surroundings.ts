/**
 * Objects that random containers need on an engine: networks, images, volumes and partners.
 *
 * @module
 */

import type { Engine } from "../../engine/client.ts";
import { containerCreate, containerStart } from "../../engine/containers.ts";
import { networkConnect } from "../../engine/networks.ts";
import { ADDRESSES, type randomContainer, type Surroundings } from "./random_container.ts";
import { BUSYBOX, type RealEngine } from "./real_engine.ts";

/** Containers whose namespaces others may share. */
export const PARTNERS = 4;

/** Settings of an image that containers inherit unless they set their own. */
const IMAGE_CHANGES = [
  "ENV FROM_IMAGE=1 A=image",
  "LABEL image.label=1 example.a=1",
  "EXPOSE 80 81",
  "VOLUME /data",
  "USER 1000",
  "WORKDIR /tmp",
  `HEALTHCHECK --interval=1s CMD ["true"]`,
  `ENTRYPOINT ["sh", "-c"]`,
];

/** Creates a container with its networks. */
export async function createRandom(
  engine: Engine,
  name: string,
  { body, connect }: ReturnType<typeof randomContainer>,
  isStarted: boolean,
): Promise<void> {
  const { id } = await containerCreate(engine, { name, body });
  for (const { network, endpoint } of connect) {
    await networkConnect(engine, network, { container: id, endpoint });
  }
  if (isStarted) await containerStart(engine, id);
}

/** Networks, an image, a directory and a container that the random ones use. */
export async function surroundings(engine: RealEngine, name: string) {
  const networks: [string, string] = [`${name}-a`, `${name}-b`];
  const images = [BUSYBOX, `${name}:1`];
  const partners = Array.from({ length: PARTNERS }, (_, at) => `partner-${at}-${name}`);
  const directory = await Deno.makeTempDir({ prefix: "longshore-test-drill-" });
  await using stack = new AsyncDisposableStack();
  stack.defer(() => Deno.remove(directory, { recursive: true }));
  for (const [at, network] of networks.entries()) {
    const { ipv4, ipv6 } = ADDRESSES[at]!;
    const subnets = [`--subnet=${ipv4}.0/24`, `--subnet=${ipv6}::/64`];
    // The engine assigns the lower half, so that it does not take the fixed addresses.
    const range = `--ip-range=${ipv4}.0/26`;
    await engine.docker("network", "create", "--ipv6", ...subnets, range, network);
    stack.defer(async () => void await engine.docker("network", "rm", network));
  }
  stack.defer(() => removeLike(engine, name));
  for (const partner of partners) {
    const options = ["--detach", "--ipc=shareable", `--name=${partner}`];
    await engine.docker("run", ...options, BUSYBOX, "sleep", "1d");
  }
  const changes = IMAGE_CHANGES.map((change) => `--change=${change}`);
  await engine.docker("commit", ...changes, partners[0]!, images[1]!);
  stack.defer(async () => void await engine.docker("rmi", "--force", images[1]!));
  const volumes = `${name}-volume`;
  stack.defer(async () => {
    const names = await engine.docker("volume", "ls", "--quiet", `--filter=name=${volumes}`);
    if (names) await engine.docker("volume", "rm", ...names.split("\n"));
  });
  const given: Omit<Surroundings, "partner"> = { images, networks, directory, volumes };
  const all = stack.move();
  return { ...given, partners, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** Removes all containers whose name contains this one. */
export async function removeLike(engine: RealEngine, name: string): Promise<void> {
  const ids = await engine.docker("ps", "--all", "--quiet", `--filter=name=${name}`);
  if (ids) await engine.docker("rm", "--force", "--volumes", ...ids.split("\n"));
}
