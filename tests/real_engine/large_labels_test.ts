import { deepEqual, equal, match } from "node:assert/strict";
import { connectEngine } from "../../engine/client.ts";
import { containerCreate, containerStart } from "../../engine/containers.ts";
import { volumeCreate, volumeRemove } from "../../engine/volumes.ts";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, engineTest, podmanTest, type RealEngine } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

const MIB = 1024 * 1024;

/** Together more than the 4 MiB up to which a list is read as a whole. */
const CONTAINERS = 3;

const TEXT = "x".repeat(2 * MIB);

async function largeLabels({ socketPath, docker }: RealEngine): Promise<void> {
  using engine = connectEngine(socketPath);
  const run = crypto.randomUUID().slice(0, 8);
  const names = Array.from({ length: CONTAINERS }, (_, index) => `large-${run}-${index}`);
  await using cleanup = new AsyncDisposableStack();
  cleanup.defer(async () => void await docker("rm", "-f", ...names).catch(() => {}));
  const ids: string[] = [];
  for (const name of names) {
    const Labels = { a: "b", text: TEXT, "com.docker.compose.project": `stack-${run}` };
    const body = { Image: BUSYBOX, Cmd: ["sleep", "1000"], Labels, StopTimeout: 0 };
    ids.push((await containerCreate(engine, { name, body })).id);
  }
  await containerStart(engine, ids[0]!);
  const volume = { Name: `large-${run}`, Driver: "local", DriverOpts: {} };
  await volumeCreate(engine, { body: { ...volume, Labels: { text: TEXT + TEXT + TEXT } } });
  cleanup.defer(() => volumeRemove(engine, volume.Name));

  // Podman sends no events of such containers, so that they are there before it is followed.
  await using app = await liveApp(socketPath);
  // deno-lint-ignore no-explicit-any
  const own = await until<any>("all are known, and the first as running", async () => {
    const { body } = await app.call("GET", "/api/containers");
    // deno-lint-ignore no-explicit-any
    const known = body.containers.filter(({ id }: any) => ids.includes(id));
    return known.length === CONTAINERS && app.deps.inventory.get(ids[0]!)?.state === "running" &&
      known;
  });
  for (const { warning, labels } of own) {
    match(warning, /^Its labels or other texts are too large/);
    deepEqual([labels.a, labels.text.length], ["b", 1_025]);
  }
  const volumes = (await app.call("GET", "/api/volumes")).body.volumes;
  // deno-lint-ignore no-explicit-any
  match(volumes.find(({ name }: any) => name === volume.Name).warning, /too large/);

  const refused = await app.call("POST", `/api/containers/${ids[0]}/update`, {});
  deepEqual([refused.status, /too large to be read in full/.test(refused.body.error)], [409, true]);
  equal((await app.call("POST", `/api/containers/${names[0]}/stop?t=0`)).body.state, "exited");
  for (const id of ids) equal((await app.call("DELETE", `/api/containers/${id}`)).status, 200);
}

engineTest(
  "containers and volumes of Docker with labels of 2 MiB are shown and removed",
  largeLabels,
);

long(podmanTest)(
  "a container of Podman with labels of 2 MiB, which sends no events, is found",
  async (engine) => {
    using client = connectEngine(engine.socketPath);
    const name = `late-${crypto.randomUUID().slice(0, 8)}`;
    await using cleanup = new AsyncDisposableStack();
    cleanup.defer(async () => void await engine.docker("rm", "-f", name).catch(() => {}));
    await using app = await liveApp(engine.socketPath);
    const body = { Image: BUSYBOX, Cmd: ["sleep", "1000"], Labels: { text: TEXT }, StopTimeout: 0 };
    const { id } = await containerCreate(client, { name, body });

    const known = () => app.deps.inventory.get(id)?.state;
    await until("it is found", () => known() === "created");
    await containerStart(client, id);
    app.clock.advance({ minutes: 1 });
    await until("it runs", () => known() === "running");
  },
);

long(podmanTest)(
  "containers and volumes of Podman with labels of 2 MiB are shown and removed",
  largeLabels,
);
