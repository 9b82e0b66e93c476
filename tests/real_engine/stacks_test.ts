import { deepEqual, equal } from "node:assert/strict";
import { composeCommand } from "../helpers/docker_compose.ts";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, engineTest, type RealEngine } from "../helpers/real_engine.ts";
import { missingProgram } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

const PREFIX = "com.docker.compose";

/** Starts a container of a Compose project, as Compose would. */
function member(
  engine: RealEngine,
  project: string,
  service: string,
  { dependsOn = "", command, options }: {
    dependsOn?: string;
    command?: string[];
    options?: string[];
  } = {},
) {
  return engine.runContainer({
    name: `${project}-${service}-1`,
    labels: {
      [`${PREFIX}.project`]: project,
      [`${PREFIX}.service`]: service,
      [`${PREFIX}.oneoff`]: "False",
      [`${PREFIX}.depends_on`]: dependsOn,
      [`${PREFIX}.project.working_dir`]: "/srv/shop",
      [`${PREFIX}.project.config_files`]: "/srv/shop/a.yaml,/srv/shop/b.yaml",
    },
    ...(command && { command }),
    ...(options && { options }),
  });
}

const projectName = () => `shop${crypto.randomUUID().slice(0, 8)}`;

engineTest(
  "a stack is stopped in reverse order, started in order, and restarted",
  async (engine) => {
    const project = projectName();
    await using web = await member(engine, project, "web", {
      dependsOn: "db:service_started:false",
    });
    await using db = await member(engine, project, "db");
    await using app = await liveApp(engine.socketPath);
    const stack = async () =>
      (await app.call("GET", "/api/stacks")).body.stacks
        .find(({ name }: { name: string }) => name === project);

    const { containers, ...summary } = await stack();
    deepEqual(containers.map(({ id }: { id: string }) => id), [db.id, web.id]);
    deepEqual(summary, {
      name: project,
      kind: "compose",
      services: 2,
      containerCount: 2,
      running: 2,
      stopped: 0,
      finished: 0,
      unhealthy: 0,
      status: "healthy",
      allHealthy: true,
    });
    const detail = (await app.call("GET", `/api/stacks/${project}`)).body;
    equal(detail.workingDir, "/srv/shop");
    deepEqual(detail.configFiles, ["/srv/shop/a.yaml", "/srv/shop/b.yaml"]);
    deepEqual(
      detail.services.map((service: typeof detail) => [service.name, service.containers[0].id]),
      [["db", db.id], ["web", web.id]],
    );

    const stopped = (await app.call("POST", `/api/stacks/${project}/stop`)).body;
    equal(stopped.ok, true);
    equal((await stack()).status, "stopped");

    const started = (await app.call("POST", `/api/stacks/${project}/start`)).body;
    equal(started.ok, true);
    equal((await stack()).status, "healthy");
    const again = (await app.call("POST", `/api/stacks/${project}/start`)).body;
    deepEqual(again.results.map(({ changed }: typeof again) => changed), [false, false]);

    const times = async (field: string) =>
      (await engine.docker("inspect", `--format={{.State.${field}}}`, db.id, web.id)).split("\n");
    const [dbStart = "", webStart = ""] = await times("StartedAt");
    equal(dbStart < webStart, true, `${dbStart} < ${webStart}`);
    equal((await app.call("POST", `/api/stacks/${project}/restart`)).body.ok, true);
    const [dbRestart = "", webRestart = ""] = await times("StartedAt");
    equal(webStart < dbRestart && dbRestart < webRestart, true);
    const [dbEnd = "", webEnd = ""] = await times("FinishedAt");
    equal(dbEnd < webEnd, true, "the restart took the dependency first");
  },
);

long(engineTest)("a service waits for the health of what it depends on", async (engine) => {
  const project = projectName();
  await using _web = await member(engine, project, "web", {
    dependsOn: "db:service_healthy:false",
  });
  await using _db = await member(engine, project, "db", {
    command: [
      "sh",
      "-c",
      "trap 'exit 0' TERM; (sleep 1; touch /tmp/up) & while :; do sleep 0.1; done",
    ],
    options: [
      "--tmpfs=/tmp",
      "--health-cmd=test -e /tmp/up",
      "--health-interval=200ms",
      "--health-start-period=30s",
    ],
  });
  await using app = await liveApp(engine.socketPath);
  equal((await app.call("POST", `/api/stacks/${project}/stop`)).body.ok, true);

  const { body } = await app.call("POST", `/api/stacks/${project}/start`);

  equal(body.ok, true, JSON.stringify(body));
  const { services } = (await app.call("GET", `/api/stacks/${project}`)).body;
  equal(services[0].containers[0].health, "healthy");
  equal(services[1].containers[0].state, "running");
});

long(engineTest)(
  "a container that another client stops makes its stack degraded",
  async (engine) => {
    const project = projectName();
    await using _web = await member(engine, project, "web");
    // "docker run" sets the policy "no", with which it would have finished.
    const options = ["--restart=unless-stopped"];
    await using db = await member(engine, project, "db", { options });
    await using app = await liveApp(engine.socketPath);

    const stack = async () => (await app.call("GET", `/api/stacks/${project}`)).body;

    await until("the stack is healthy", async () => (await stack()).status === "healthy");
    await engine.docker("stop", db.id);
    // Events say so: the list of containers is not read again for minutes.
    await until("the stack is degraded", async () => {
      const { status, stopped } = await stack();
      return status === "degraded" && stopped === 1;
    });
  },
);

if (!missingProgram("docker-compose")) {
  long(engineTest)("a project that Compose created is a stack", async (engine) => {
    const project = projectName();
    const directory = await Deno.makeTempDir({ prefix: "longshore-test-" });
    const compose = composeCommand(engine, project, directory);
    const service = { image: BUSYBOX, command: "sleep 1000", stop_signal: "SIGKILL" };
    await Deno.writeTextFile(
      `${directory}/docker-compose.yml`,
      JSON.stringify({
        version: "3.8",
        services: {
          web: { ...service, depends_on: ["db"] },
          db: service,
          seed: { image: BUSYBOX, command: "true", restart: "no" },
        },
      }),
    );
    try {
      await compose("up", "--detach", "--scale", "web=2");
      await compose("run", "--detach", "web");
      await using app = await liveApp(engine.socketPath);

      const read = async () => (await app.call("GET", `/api/stacks/${project}`)).body;
      await until("the seed has finished", async () => (await read()).finished === 1);
      const body = await read();
      deepEqual([body.containerCount, body.running, body.status], [4, 3, "healthy"]);
      deepEqual(
        body.services.map(({ name, containers }: typeof body) => [name, containers.length]),
        [["db", 1], ["seed", 1], ["web", 2]],
      );
      equal(body.workingDir, directory);
      equal((await app.call("POST", `/api/stacks/${project}/stop`)).body.ok, true);
    } finally {
      await compose("down", "--remove-orphans", "--timeout", "0");
      await Deno.remove(directory, { recursive: true });
    }
  });
}
