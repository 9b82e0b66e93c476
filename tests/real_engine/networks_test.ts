import { deepEqual, equal } from "node:assert/strict";
import { liveApp } from "../helpers/live_app.ts";
import { engineTest } from "../helpers/real_engine.ts";

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
      internal: true,
      subnets: ["10.199.7.0/24"],
    });
    equal(Math.abs(Date.parse(createdAt) - Date.now()) < 60_000, true);
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
