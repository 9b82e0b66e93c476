/**
 * Compose files that are generated from containers describe them: the plan of the file has no change.
 *
 * @module
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { containerInspect } from "../../engine/containers.ts";
import { comparableContainer, differences } from "../helpers/comparable_container.ts";
import { composeCommand } from "../helpers/docker_compose.ts";
import { FULL_DRILL_SEED, randomNumbers, reportDrill } from "../helpers/drill.ts";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { randomContainer } from "../helpers/random_container.ts";
import { BUSYBOX, engineTest, privateEngineTest } from "../helpers/real_engine.ts";
import { missingProgram } from "../helpers/sandbox.ts";
import { testStack } from "../helpers/test_stack.ts";
import { createRandom, removeLike, surroundings } from "../helpers/surroundings.ts";

const SEED = FULL_DRILL_SEED ?? 7;
const COUNT = FULL_DRILL_SEED === undefined ? 16 : 200;

/** A project with something of everything that a file can say. */
const compose = (project: string) => ({
  version: "2.4",
  services: {
    db: {
      image: BUSYBOX,
      command: ["sh", "-c", "echo $$HOME; sleep 1000"],
      volumes: ["data:/data", "/anonymous", "/tmp:/host:ro"],
      networks: { back: { aliases: ["database"] } },
      environment: { PASSWORD: "a$$b", FLAG: "yes", TIME: "22:22" },
      restart: "on-failure:3",
      stop_grace_period: "1s",
      mem_limit: "64m",
      memswap_limit: "96m",
      cap_drop: ["ALL"],
      container_name: `${project}-database`,
      healthcheck: { test: "true", interval: "1m30s", retries: 5 },
      ulimits: { nofile: { soft: 1000, hard: 2000 }, nproc: 512 },
      logging: { driver: "json-file", options: { "max-size": "1m" } },
      devices: ["/dev/null:/dev/nothing"],
      tmpfs: ["/run:size=1m"],
      labels: { "org.example.price": "$$5" },
    },
    web: {
      image: BUSYBOX,
      entrypoint: ["sleep"],
      command: ["1000"],
      depends_on: ["db"],
      ports: ["127.0.0.1::80", "8081/udp"],
      networks: { back: {}, front: { aliases: ["www"] } },
      links: ["db:store"],
      stop_grace_period: "1s",
      init: true,
      extra_hosts: ["other:192.0.2.1"],
    },
    sidecar: {
      image: BUSYBOX,
      command: "sleep 1000",
      network_mode: "service:web",
      stop_grace_period: "1s",
      volumes_from: ["db:ro"],
    },
  },
  networks: { back: {}, front: { name: `${project}-front`, internal: true } },
  volumes: { data: {} },
});

if (!missingProgram("docker-compose")) {
  long(engineTest)("a generated file describes what docker-compose deployed", async (engine) => {
    const project = `generate${crypto.randomUUID().slice(0, 8)}`;
    const directory = await Deno.makeTempDir({ prefix: "longshore-test-" });
    const run = composeCommand(engine, project, directory);
    const file = JSON.stringify(compose(project));
    await Deno.writeTextFile(`${directory}/docker-compose.yml`, file);
    try {
      await run("up", "--detach", "--scale", "web=2");
      await using app = await liveApp(engine.socketPath);
      const names = [`${project}-database`, `${project}_web_1`, `${project}_web_2`];
      const containers = [...names, `${project}_sidecar_1`];
      const generated = await app.call("POST", "/api/stacks/generate", { containers });
      equal(generated.status, 200, JSON.stringify(generated.body));
      const { name, compose: text, variables, warnings } = generated.body;
      deepEqual({ name, variables, warnings }, { name: project, variables: [], warnings: [] });
      match(text, /scale: 2/);
      // Compose 1 reads YAML 1.1.
      match(text, /FLAG: "yes"/);
      match(text, /TIME: "22:22"/);

      const adopted = await app.call("POST", `/api/stacks/${project}/adopt`, { compose: text });
      equal(adopted.status, 200, `${JSON.stringify(adopted.body)}\n${text}`);
      const changed = adopted.body.changes.filter(({ action }: { action: string }) =>
        action !== "none"
      );
      deepEqual(changed, [], `${JSON.stringify(changed)}\n${text}`);
      equal(adopted.body.adopted, true);

      const viewed = await app.call("POST", "/api/stacks/generate", { containers }, {
        role: "operator",
      });
      ok(!viewed.body.compose.includes("a$$b"), viewed.body.compose);
      match(viewed.body.compose, /PASSWORD: \$\{DB_PASSWORD\}/);
      ok(viewed.body.variables.includes("DB_PASSWORD"));
    } finally {
      await run("down", "--volumes", "--timeout", "0");
      await Deno.remove(directory, { recursive: true });
    }
  });
}

long(privateEngineTest)(
  `the files of ${COUNT} random containers (seed ${SEED}) describe them`,
  async (engine) => {
    const prefix = `longshore-test-generate-${crypto.randomUUID().slice(0, 8)}`;
    await using given = await surroundings(engine, prefix);
    await using app = await liveApp(engine.socketPath);
    const client = app.deps.engine;
    const random = randomNumbers(SEED);
    for (let index = 0; index < COUNT; index++) {
      const partner = given.partners[0]!;
      const wanted = randomContainer(random, index % 100, { ...given, partner });
      const project = `${prefix}-${index}`;
      wanted.body.Labels = {
        ...wanted.body.Labels,
        "com.docker.compose.project": project,
        "com.docker.compose.service": "app",
        "com.docker.compose.container-number": "1",
        "com.docker.compose.oneoff": "False",
      };
      try {
        await createRandom(client, project, wanted, false);
        const { body: { compose, warnings } } = await app.call("POST", "/api/stacks/generate", {
          containers: [project],
        });
        const { status, body } = await app.call("POST", `/api/stacks/${project}/adopt`, {
          compose,
        });
        const said = () =>
          `Container ${index} of seed ${SEED}\n${JSON.stringify(body, null, 1)}\n${compose}\n${
            JSON.stringify(wanted, null, 1)
          }`;
        equal(status, 200, said());
        const reasons = body.changes
          .filter(({ action }: { action: string }) => action === "recreate")
          .flatMap((change: { reasons: { text: string }[] }) =>
            change.reasons.map(({ text }) => text)
          );
        // The only thing that a file cannot say.
        const unsaid = warnings.some((text: string) => text.includes("default network"));
        deepEqual(reasons, unsaid ? ["networks: bridge removed"] : [], said());
      } finally {
        await removeLike(engine, project);
      }
    }
    reportDrill(`${COUNT} random containers described (seed ${SEED})`, "no difference");
  },
);

long(engineTest)("a container from a generated file is like the one before", async (engine) => {
  const name = `generate${crypto.randomUUID().slice(0, 8)}`;
  const network = `${name}-net`;
  await using app = await liveApp(engine.socketPath);
  const client = app.deps.engine;
  await using stack = testStack(app, engine);
  try {
    await engine.docker("network", "create", network);
    await engine.docker(
      ...["run", "--detach", "--name", name, "--network", network, "--network-alias", "www"],
      ...["--env", "A=x y", "--env", "B=$HOME", "--label", "example=1", "--restart", "always"],
      ...["--volume", `${name}-data:/data`, "--volume", "/tmp:/host:ro", "--tmpfs", "/run:size=1m"],
      ...["--memory", "64m", "--cpus", "0.5", "--cap-add", "NET_ADMIN", "--stop-timeout", "1"],
      ...["--publish", "127.0.0.1::8080", "--user", "1000", "--workdir", "/tmp", "--hostname", "h"],
      ...["--health-cmd", "true", "--health-interval", "1s", "--sysctl", "net.core.somaxconn=512"],
      ...[BUSYBOX, "sleep", "1000"],
    );
    const read = async () => {
      const { Config, HostConfig, ...rest } = await containerInspect(client, name);
      // The labels and the aliases of a stack are new.
      const Labels = Object.fromEntries(
        Object.entries(Config.Labels ?? {}).filter(([label]) => !label.startsWith("com.docker.")),
      );
      HostConfig.Binds?.sort();
      return { Config: { ...Config, Labels }, HostConfig, ...rest };
    };
    const before = await read();
    const { body: generated } = await app.call("POST", "/api/stacks/generate", {
      containers: [name],
    });
    await engine.docker("rm", "--force", name);
    await stack.store({}, { compose: generated.compose });
    const job = await stack.deploy();
    equal(job.status, "succeeded", job.error ?? "");
    // An empty list is the same as none, a capability has two names, and a volume two requests.
    const found = differences(comparableContainer(before), comparableContainer(await read()))
      .filter((text) => !/Aliases|^\.state|: \[\] became null$|CapAdd|Binds/.test(text));
    deepEqual(found, [], `${found.join("\n")}\n${generated.compose}`);
  } finally {
    await removeLike(engine, name);
    await engine.docker("volume", "rm", "--force", `${name}-data`);
    await engine.docker("network", "rm", network);
  }
});
