/** Names in Compose files that are also the beginning of ids of what belongs to others. @module */

import { deepEqual, equal, ok } from "node:assert/strict";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, engineTest, podmanTest, type RealEngine } from "../helpers/real_engine.ts";
import { networked, NEVER_STABLE, testStack } from "../helpers/test_stack.ts";
import { until } from "../helpers/until.ts";

const randomName = () => `s${crypto.randomUUID().slice(0, 8)}`;

/** Digits of the ids that are used as names. */
const DIGITS = [4, 64];

async function withForeignNetwork(
  real: RealEngine,
  run: (network: { id: string; name: string; container: string }) => Promise<void>,
): Promise<void> {
  const name = `${randomName()}_prod`;
  const container = `${name}-db`;
  await real.docker("network", "create", name);
  await real.docker("create", `--name=${container}`, `--network=${name}`, BUSYBOX, "sleep", "99");
  try {
    const id = await real.docker("network", "inspect", "--format={{.Id}}", name);
    await run({ id, name, container });
  } finally {
    await real.docker("rm", "-f", container);
    await real.docker("network", "rm", name);
  }
}

const networksOf = async (real: RealEngine, container: string) =>
  JSON.parse(
    await real.docker("inspect", "--format={{json .NetworkSettings.Networks}}", container),
  );

for (const digits of DIGITS) {
  engineTest(`a network with ${digits} digits of another one's id as its name`, async (real) => {
    await using app = await liveApp(real.socketPath);
    await withForeignNetwork(real, async ({ id, name, container }) => {
      await real.docker("start", container);
      await using stack = testStack(app, real);
      const own = id.slice(0, digits);
      await stack.store({
        services: { app: { ...networked, networks: ["n"] } },
        networks: { n: { name: own } },
      });

      const job = await stack.deploy();

      if (digits === 64) {
        // The engine takes it for the id in every request.
        equal(job.status, "rolled_back");
        equal(job.error, `Network ${own} is not the name, but the id of a network`);
        deepEqual(await stack.containers(), {});
      } else {
        equal(job.status, "succeeded", job.error ?? "");
        deepEqual(Object.keys(await networksOf(real, `${stack.name}-app-1`)), [own]);
      }
      await stack.down();
      await real.docker("restart", "-t0", container);
      deepEqual(Object.keys(await networksOf(real, container)), [name]);
    });
  });

  long(engineTest)(
    `a rollback removes none whose id begins with ${digits} digits`,
    async (real) => {
      await using app = await liveApp(real.socketPath);
      await withForeignNetwork(real, async ({ id, container }) => {
        await using stack = testStack(app, real);
        const own = id.slice(0, digits);
        await stack.store({
          services: { app: { ...networked, command: "sh -c 'exit 1'", networks: ["n"] } },
          networks: { n: { name: own } },
        });

        equal((await stack.deploy(NEVER_STABLE)).status, "rolled_back");

        const listed = await real.docker("network", "ls", "--format={{.Name}}");
        ok(!listed.split("\n").includes(own), listed);
        // It would not find a removed network.
        await real.docker("start", container);
      });
    },
  );
}

const keepsForeign = async (real: RealEngine) => {
  await using app = await liveApp(real.socketPath);
  await using stack = testStack(app, real);
  const name = randomName();
  await real.docker("volume", "create", `${name}_more`);
  try {
    await stack.store({
      services: { app: { ...networked, command: ["/missing"], volumes: ["data:/data"] } },
      volumes: { data: { name } },
    });

    equal((await stack.deploy()).status, "rolled_back");

    const { status } = await app.call("DELETE", `/api/volumes/${name}`);
    equal(status, 404);
    const listed = (await real.docker("volume", "ls", "--format={{.Name}}")).split("\n");
    deepEqual(listed.filter((each) => each.startsWith(name)), [`${name}_more`]);
  } finally {
    await real.docker("volume", "rm", `${name}_more`);
  }
};

engineTest("a volume whose name begins with that of a removed one stays", keepsForeign);
long(podmanTest)(
  "a volume on Podman whose name begins with that of a removed one stays",
  keepsForeign,
);

long(engineTest)(
  "a deploy removes no container whose id begins with a container_name",
  async (real) => {
    await using app = await liveApp(real.socketPath);
    await using stack = testStack(app, real);
    await stack.store({ services: { app: networked } });
    equal((await stack.deploy()).status, "succeeded");
    // A one-off container is not part of what a deploy replaces.
    const id = await real.docker(
      "create",
      `--label=com.docker.compose.project=${stack.name}`,
      "--label=com.docker.compose.service=app",
      "--label=com.docker.compose.oneoff=True",
      BUSYBOX,
      "true",
    );
    await stack.store({ services: { more: { ...networked, container_name: id.slice(0, 6) } } });

    const job = await stack.deploy({ removeOrphans: true });

    equal(job.status, "succeeded", job.error ?? "");
    equal(await real.docker("inspect", "--format={{.Id}}", id), id);
    await real.docker("rm", id);
  },
);

long(engineTest)(
  "a network that a failed deploy created stays if others have joined it",
  async (real) => {
    await using app = await liveApp(real.socketPath);
    await using stack = testStack(app, real);
    const network = `${stack.name}_shared`;
    const other = `${stack.name}-other`;
    await stack.store({
      services: {
        app: {
          ...networked,
          networks: ["n"],
        },
      },
      networks: { n: { name: network } },
    });
    const deploying = stack.deploy(NEVER_STABLE);
    await until(
      "the container runs",
      async () => Object.values(await stack.containers()).some(({ State }) => State.Running),
    );
    await real.docker("create", `--name=${other}`, `--network=${network}`, BUSYBOX, "sleep", "99");
    try {
      await real.docker("kill", `${stack.name}-app-1`);

      const { status, result } = await deploying;

      equal(status, "rolled_back");
      const reason = `Network ${network} stays, because other containers need it: ${other}`;
      ok(result.warnings.includes(reason), result.warnings.join("; "));
      await real.docker("start", other);
    } finally {
      await real.docker("rm", "-f", other);
      await real.docker("network", "rm", network);
    }
  },
);

long(engineTest)(
  "an image whose id begins with the name of a service's image is not taken",
  async (real) => {
    await using app = await liveApp(real.socketPath);
    await using stack = testStack(app, real);
    const id = await real.docker("image", "inspect", "--format={{.Id}}", BUSYBOX);
    const image = id.slice("sha256:".length).slice(0, 6);
    await stack.store({ services: { app: { ...networked, image } } });

    const job = await stack.deploy({ pull: "never" });

    equal(job.status, "failed");
    equal(job.error, `Image ${image} of app does not exist and is not pulled`);
  },
);
