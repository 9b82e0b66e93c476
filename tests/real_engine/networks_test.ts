import { deepEqual, equal } from "node:assert/strict";
import { liveApp } from "../helpers/live_app.ts";
import { BUSYBOX, engineTest, podmanTest, type RealEngine } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

engineTest("networks are listed with their containers and addresses", async (engine) => {
  const name = `net-${crypto.randomUUID().slice(0, 8)}`;
  const id = await engine.docker("network", "create", "--internal", "--subnet=10.199.7.0/24", name);
  try {
    await using running = await engine.runContainer({
      options: [`--network=${name}`, "--ip=10.199.7.9"],
    });
    const created = await engine.docker(
      "create",
      `--network=${name}`,
      `--name=${name}-made`,
      "longshore-test/busybox:1",
    );
    await using app = await liveApp(engine.socketPath);

    const { body } = await app.call("GET", "/api/networks");
    await engine.docker("rm", created);

    const network = body.networks.find((network: typeof body) => network.id === id);
    const { createdAt, containers, ...rest } = network;
    deepEqual(rest, {
      id,
      name,
      driver: "bridge",
      scope: "local",
      warning: null,
      internal: true,
      attachable: false,
      subnets: ["10.199.7.0/24"],
      gateways: [],
      labels: {},
    });
    equal(Math.abs(Date.parse(createdAt) - Date.now()) < 600_000, true);
    deepEqual(
      containers.map(({ name, ipv4 }: typeof body) => ({ name, ipv4 })),
      [{ name: running.name, ipv4: "10.199.7.9" }, { name: `${name}-made`, ipv4: null }]
        .sort((a, b) => a.name < b.name ? -1 : 1),
    );
    equal(body.networks.some(({ name }: typeof body) => name === "host"), true);
  } finally {
    await engine.docker("network", "rm", name);
  }
});

for (const [kind, register] of [["Docker", engineTest], ["Podman", podmanTest]] as const) {
  register(`a network is created, refused while in use, and deleted (${kind})`, createAndDelete);
}

async function createAndDelete(engine: RealEngine): Promise<void> {
  await using app = await liveApp(engine.socketPath);
  const name = `net-${crypto.randomUUID().slice(0, 8)}`;
  const create = (body: unknown) => app.call("POST", "/api/networks", body);
  const listed = async () =>
    (await app.call("GET", "/api/networks")).body.networks
      .find((network: { name: string }) => network.name === name);
  const subnet = { subnet: "10.199.8.0/24", gateway: "10.199.8.9" };

  const created = await create({ name, internal: true, labels: { a: "b" }, ...subnet });
  const { id, createdAt: _, ...rest } = created.body;
  deepEqual([created.status, rest], [201, {
    name,
    driver: "bridge",
    scope: "local",
    warning: null,
    internal: true,
    attachable: false,
    subnets: ["10.199.8.0/24"],
    gateways: ["10.199.8.9"],
    labels: { a: "b" },
    containers: [],
  }]);
  deepEqual(await listed(), created.body);

  const overlapping = await create({ name: `${name}-2`, subnet: "10.199.8.0/25" });
  deepEqual(
    [overlapping.status, overlapping.body.error],
    [409, "Subnet 10.199.8.0/25 overlaps with another network"],
  );
  const again = await create({ name });
  deepEqual([again.status, again.body.error], [409, `Network ${name} already exists`]);
  const driver = await create({ name: `${name}-3`, driver: "no-such-driver" });
  deepEqual(
    [driver.status, driver.body.error],
    [400, "body.driver: the engine has no driver no-such-driver"],
  );

  const stopped = `${name}-stopped`;
  await engine.docker("create", `--network=${name}`, `--name=${stopped}`, BUSYBOX);
  await until("it is listed in the network", async () => (await listed()).containers.length === 1);
  for (const ref of [id, name]) {
    const used = await app.call("DELETE", `/api/networks/${ref}`);
    deepEqual([used.status, used.body.error], [409, `Network ${name} is in use by ${stopped}`]);
  }
  equal((await app.call("DELETE", `/api/containers/${stopped}`)).status, 200);
  deepEqual((await app.call("DELETE", `/api/networks/${id}`)).body, { ok: true, id, name });
  equal(await listed(), undefined);
  equal((await app.call("DELETE", `/api/networks/${name}`)).status, 404);
  equal((await app.call("DELETE", "/api/networks/bridge")).status, 409);
}

engineTest("an IPv6 subnet enables IPv6", async (engine) => {
  await using app = await liveApp(engine.socketPath);
  const name = `net-${crypto.randomUUID().slice(0, 8)}`;
  const { body } = await app.call("POST", "/api/networks", {
    name,
    subnet: "fd00:199::/64",
    gateway: "fd00:199::1",
  });
  try {
    equal(body.subnets.includes("fd00:199::/64"), true);
    equal(await engine.docker("network", "inspect", "--format={{.EnableIPv6}}", name), "true");
  } finally {
    await app.call("DELETE", `/api/networks/${name}`);
  }
});
