/**
 * Random containers are recreated from the same image, and do not differ afterwards.
 *
 * By default a few of a fixed seed; `deno task drill` creates 200 of a new one.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import type { Engine } from "../../engine/client.ts";
import { containerCreate, containerInspect, containerStart } from "../../engine/containers.ts";
import { networkConnect } from "../../engine/networks.ts";
import { comparableContainer, differences } from "../helpers/comparable_container.ts";
import { FULL_DRILL_SEED, randomNumbers, reportDrill, updateContainer } from "../helpers/drill.ts";
import { liveApp } from "../helpers/live_app.ts";
import { ADDRESSES, randomContainer, type Surroundings } from "../helpers/random_container.ts";
import { BUSYBOX, privateEngineTest, type RealEngine } from "../helpers/real_engine.ts";

const SEED = FULL_DRILL_SEED ?? 12;
const COUNT = FULL_DRILL_SEED === undefined ? 12 : 200;

/** Jobs that run at the same time; the engine is mostly waited for. */
const TOGETHER = 4;

/** Recreates a container from its own image. */
const UPDATE = { pull: "never", force: true, stableSeconds: 1 };

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

privateEngineTest(
  `${COUNT} random containers (seed ${SEED}) are recreated without a difference`,
  async (engine) => {
    const name = `longshore-test-drill-${crypto.randomUUID().slice(0, 8)}`;
    await using given = await surroundings(engine, name);
    await using app = await liveApp(engine.socketPath);
    app.deps.now = () => new Date();
    const client = app.deps.engine;
    const random = randomNumbers(SEED);

    const recreate = async (index: number, isStarted: boolean, wanted: ReturnType<typeof next>) => {
      const ref = `${name}-${index}`;
      try {
        await create(client, ref, wanted, isStarted);
        const before = comparableContainer(await containerInspect(client, ref));
        const job = await updateContainer(app, ref, UPDATE);
        equal(job.status, "succeeded", job.error ?? "");
        const after = comparableContainer(await containerInspect(client, ref));
        deepEqual(differences(before, after), []);
      } catch (cause) {
        const body = JSON.stringify(wanted, null, 2);
        throw new Error(`Container ${index} of seed ${SEED}: ${cause}\n${body}`, { cause });
      }
    };
    const next = (index: number) => {
      // Those that share namespaces of one container are recreated one at a time.
      const partner = given.partners[index % TOGETHER]!;
      return randomContainer(random, index % 100, { ...given, partner });
    };

    for (let index = 0; index < COUNT; index += TOGETHER) {
      const batch = Array.from({ length: TOGETHER }, (_, at) => index + at)
        .map((index) => ({ index, isStarted: random() < 0.7, wanted: next(index) }));
      const outcomes = await Promise.allSettled(
        batch.map(({ index, isStarted, wanted }) => recreate(index, isStarted, wanted)),
      );
      await removeLike(engine, `${name}-`);
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") throw outcome.reason;
      }
    }
    reportDrill(`${COUNT} random containers recreated (seed ${SEED})`, "no difference");
  },
);

async function create(
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
async function surroundings(engine: RealEngine, name: string) {
  const networks: [string, string] = [`${name}-a`, `${name}-b`];
  const images = [BUSYBOX, `${name}:1`];
  const partners = Array.from({ length: TOGETHER }, (_, at) => `partner-${at}-${name}`);
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

async function removeLike(engine: RealEngine, name: string): Promise<void> {
  const ids = await engine.docker("ps", "--all", "--quiet", `--filter=name=${name}`);
  if (ids) await engine.docker("rm", "--force", "--volumes", ...ids.split("\n"));
}
