import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { stack as stackCommand } from "../../commands/stack.ts";
import { long } from "../helpers/long.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { liveApp } from "../helpers/live_app.ts";
import { BUSYBOX, engineTest } from "../helpers/real_engine.ts";
import { missingProgram } from "../helpers/sandbox.ts";
import { actionsOf, networked, NEVER_STABLE, sleeper, testStack } from "../helpers/test_stack.ts";

engineTest("a stack is deployed as planned, and again without a change", async (engine) => {
  await using app = await liveApp(engine.socketPath);
  await using stack = testStack(app, engine);
  await stack.store({
    services: {
      db: {
        ...networked,
        volumes: ["data:/data", "/anonymous"],
        healthcheck: { test: "test -e /data", interval: "1s" },
        networks: { back: { aliases: ["database"] } },
        secrets: ["password"],
      },
      job: { image: BUSYBOX, command: "true", networks: ["back"] },
      web: {
        ...networked,
        depends_on: {
          db: { condition: "service_healthy" },
          job: { condition: "service_completed_successfully" },
        },
        environment: { LOG_LEVEL: "info" },
        labels: { "org.example.tier": "front" },
        ports: ["127.0.0.1::80"],
        networks: ["back", "front"],
        configs: [{ source: "page", target: "/srv/page.html", mode: "0400" }],
        scale: 2,
      },
      sidecar: { ...networked, network_mode: "service:web" },
    },
    networks: { back: {}, front: {} },
    volumes: { data: {} },
    secrets: { password: { file: "./password.txt" } },
    configs: { page: { content: "hello" } },
  }, { files: { "password.txt": "s3cret-of-the-db" } });

  const planned = await stack.plan();
  const job = await stack.deploy();
  equal(job.status, "succeeded", JSON.stringify(job));
  deepEqual(actionsOf(job.result), actionsOf(planned));
  ok(!JSON.stringify(job).includes("s3cret"));

  const containers = await stack.containers();
  deepEqual(Object.keys(containers).sort(), ["db-1", "job-1", "sidecar-1", "web-1", "web-2"]);
  const { Config, State } = containers["web-1"]!;
  ok(State.StartedAt > containers["job-1"]!.State.StartedAt);
  equal(Config.Labels?.["com.docker.compose.image"], containers["web-1"]!.Image);
  match(Config.Labels?.["com.docker.compose.depends_on"] ?? "", /db:service_healthy:false/);
  equal(containers["sidecar-1"]!.HostConfig.NetworkMode, `container:${containers["web-1"]!.Id}`);

  const changes = await stack.watch();
  deepEqual(actionsOf(await stack.plan()).filter((text) => !/ none$/.test(text)), []);
  const again = await stack.deploy();
  equal(again.status, "succeeded", JSON.stringify(again));
  deepEqual(await changes(), []);
});

engineTest(
  "a plan names a changed secret, and a deploy needs images that are built",
  async (engine) => {
    await using app = await liveApp(engine.socketPath);
    await using stack = testStack(app, engine);
    const source = {
      services: { db: { ...sleeper, secrets: ["password", "other"], configs: ["page"] } },
      secrets: { password: { file: "./password.txt" }, other: { file: "./other.txt" } },
      configs: { page: { content: "hello" } },
    };
    const files = { "password.txt": "old", "other.txt": "same" };
    await stack.store(source, { files });
    equal((await stack.deploy()).status, "succeeded");

    await stack.store(source, { files: { ...files, "password.txt": "new-s3cret" } });
    const plan = await stack.plan();
    deepEqual(plan.changes.find(({ name }: { name: string }) => name === "db"), {
      kind: "service",
      name: "db",
      action: "recreate",
      reasons: [{
        path: "secrets.password",
        from: "(changed)",
        to: "(changed)",
        text: "secrets: password changed",
      }],
    });

    const image = "localhost/longshore-test-unbuilt:1";
    await stack.store({ services: { db: { ...sleeper, build: "." }, app: { image, build: "." } } });
    const failed = await stack.deploy();
    equal(failed.status, "failed", JSON.stringify(failed));
    match(
      JSON.stringify(failed),
      /services\.app\.build is not supported, and the engine does not have/,
    );
  },
);

engineTest("a failed first deploy says that its sources are kept", async (engine) => {
  await using app = await liveApp(engine.socketPath);
  await using stack = testStack(app, engine);
  await stack.store({ services: { web: { ...sleeper, command: "false", restart: "always" } } });

  const failed = await stack.deploy(NEVER_STABLE);

  equal(failed.status, "rolled_back", JSON.stringify(failed));
  deepEqual(failed.result.warnings, [
    `The stack ${stack.name} is not deployed, and its sources are kept: change and deploy it again, ` +
    "or delete the stack",
  ]);
});

engineTest("a changed service is replaced, and a failing one is taken back", async (engine) => {
  await using app = await liveApp(engine.socketPath);
  await using stack = testStack(app, engine);
  const services = { db: { ...sleeper, volumes: ["/anonymous"] }, web: { ...sleeper, scale: 2 } };
  await stack.store({ services });
  equal((await stack.deploy()).status, "succeeded");
  const first = await stack.containers();

  await stack.store({
    services: { db: { ...services.db, restart: "on-failure:3" }, web: sleeper },
  });
  const changed = await stack.deploy();
  equal(changed.status, "succeeded", JSON.stringify(changed));
  const second = await stack.containers();
  deepEqual(Object.keys(second).sort(), ["db-1", "web-1"]);
  equal(second["web-1"]!.Id, first["web-1"]!.Id);
  ok(second["db-1"]!.Id !== first["db-1"]!.Id);
  deepEqual(second["db-1"]!.HostConfig.RestartPolicy, { Name: "on-failure", MaximumRetryCount: 3 });
  equal(second["db-1"]!.Mounts?.[0]?.Name, first["db-1"]!.Mounts?.[0]?.Name);

  await stack.store({
    services: {
      db: { ...services.db, environment: { A: "2" } },
      web: { ...sleeper, command: "false", restart: "always" },
      other: sleeper,
    },
    networks: { default: {} },
  });
  const failed = await stack.deploy(NEVER_STABLE);
  equal(failed.status, "rolled_back", JSON.stringify(failed));
  const third = await stack.containers();
  deepEqual(Object.keys(third).sort(), ["db-1", "web-1"]);
  for (const name of ["db-1", "web-1"]) {
    equal(third[name]!.Id, second[name]!.Id);
    equal(third[name]!.State.Status, "running");
  }
});

if (!missingProgram("docker-compose")) {
  long(engineTest)("docker-compose sees, stops and removes what was deployed", async (engine) => {
    const directory = await Deno.makeTempDir({ prefix: "longshore-test-" });
    try {
      await using app = await liveApp(engine.socketPath);
      await using stack = testStack(app, engine);
      const source = { services: { web: { ...sleeper, scale: 2 } }, volumes: {} };
      await Deno.writeTextFile(
        `${directory}/docker-compose.yml`,
        JSON.stringify({ version: "2.4", ...source }),
      );
      const run = async (...args: string[]) => {
        const { success, stdout, stderr } = await new Deno.Command("docker-compose", {
          args: ["--project-name", stack.name, ...args],
          cwd: directory,
          env: { DOCKER_HOST: `unix://${engine.socketPath}`, DOCKER_CONFIG: "/nonexistent" },
          stdin: "null",
        }).output();
        if (!success) throw new Error(new TextDecoder().decode(stderr));
        return new TextDecoder().decode(stdout);
      };
      await stack.store(source);
      equal((await stack.deploy()).status, "succeeded");

      equal((await run("ps", "-q")).trim().split("\n").length, 2);
      await run("stop");
      const stopped = await stack.containers();
      deepEqual(Object.values(stopped).map(({ State }) => State.Status), ["exited", "exited"]);
      const started = await stack.deploy();
      deepEqual(actionsOf(started.result).at(-1), "service web start");
      await run("down", "--timeout", "0");
      deepEqual(await stack.containers(), {});

      const path = `/api/stacks/${stack.name}`;
      equal((await app.call("DELETE", path)).status, 200);
      await run("up", "--detach");
      const adopt = async (web: object) => {
        const compose = JSON.stringify({ services: { web } });
        const { status, body } = await app.call("POST", `${path}/adopt`, { compose });
        equal(status, 200, JSON.stringify(body));
        return body.adopted;
      };
      equal(await adopt({ ...source.services.web, command: "sleep 2000" }), false);
      equal((await app.call("GET", `${path}/source`)).status, 404);
      equal(await adopt(source.services.web), true);
      equal((await app.call("GET", `${path}/source`)).body.version, 1);
      deepEqual(
        actionsOf(await stack.plan()).filter((text) => !/ none$/.test(text)),
        [],
      );
      const down = await stack.down();
      deepEqual(down.result.containers.length, 2, JSON.stringify(down));
      deepEqual(await stack.containers(), {});
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  });
}

long(engineTest)(
  "longshore stack plans, deploys and removes what a file describes",
  async (engine) => {
    const name = `s${crypto.randomUUID().slice(0, 8)}`;
    const directory = await Deno.makeTempDir({ prefix: "longshore-test-" });
    try {
      await using longshore = await startLongshore({ engineSocket: engine.socketPath });
      const file = `${directory}/compose.yaml`;
      const override = `${directory}/prod.yaml`;
      // A health check decides sooner than the default time without one.
      const healthcheck = { test: "true", interval: "1s" };
      const web = { ...networked, env_file: "./app.env", healthcheck };
      await Deno.writeTextFile(file, JSON.stringify({ name, services: { web } }));
      await Deno.writeTextFile(`${directory}/app.env`, "A=1\n");
      const { noted, run } = await commandLine(longshore);

      ok((await run("plan", file)).includes("service web: create (no container exists)"));
      equal((await run("deploy", file)).at(-1), `Version 1 of ${name} is deployed.`);
      deepEqual(await run("plan", file), ["network default: none", "service web: none"]);
      equal((await run("deploy", file)).at(-1), `Version 1 of ${name} is deployed.`);
      await Deno.writeTextFile(`${directory}/app.env`, "A=2\n");
      const changed = await run("deploy", file);
      ok(changed.includes("service web: recreate"), changed.join("\n"));
      equal(changed.at(-1), `Version 2 of ${name} is deployed.`);
      const broken = { ...web, command: ["sh", "-c", "echo '  no  database'; exit 3"] };
      await Deno.writeTextFile(file, JSON.stringify({ name, services: { web: broken } }));
      await rejects(run("deploy", file), /: rolled back: .*-web-1 exited with code 3/);
      deepEqual(
        noted.slice(noted.indexOf(`Last log lines of ${name}-web-1:`)).slice(1, 2),
        ["    no  database"],
      );
      await Deno.writeTextFile(file, JSON.stringify({ name, services: { web } }));
      await Deno.writeTextFile(override, "services: {web: {environment: {B: '$B'}}}\n");
      await Deno.writeTextFile(`${directory}/.env`, "B=3\n");
      deepEqual(await run("plan", file, "-f", override), [
        "network default: none",
        "service web: recreate (environment: B added)",
      ]);
      await run("deploy", file, "-f", override);
      deepEqual(await run("plan", file, "-f", override), [
        "network default: none",
        "service web: none",
      ]);
      equal(
        (await run("deploy", file, "-f", override)).at(-1),
        `Version 4 of ${name} is deployed.`,
      );
      deepEqual(await run("down", file), [`Removed containers of ${name}: ${name}-web-1`]);
    } finally {
      await Deno.remove(directory, { recursive: true });
    }
  },
);

long(engineTest)(
  "longshore stack deploys a project with relative mounts from its directory",
  async (engine) => {
    const name = `s${crypto.randomUUID().slice(0, 8)}`;
    const root = await Deno.makeTempDir({ prefix: "longshore-test-" });
    try {
      await using longshore = await startLongshore({
        engineSocket: engine.socketPath,
        env: { STACK_ROOTS: root },
      });
      const { run } = await commandLine(longshore);
      const directory = `${root}/${name}`;
      await Deno.mkdir(`${directory}/html`, { recursive: true });
      await Deno.writeTextFile(`${directory}/html/page`, "hello");
      const [file, override] = [`${directory}/compose.yaml`, `${directory}/compose.override.yaml`];
      const healthcheck = { test: "grep hello /html/page", interval: "1s" };
      const web = { ...sleeper, volumes: ["./html:/html"], healthcheck };
      await Deno.writeTextFile(file, JSON.stringify({ services: { web } }));
      await Deno.writeTextFile(override, "services: {web: {environment: {A: '1'}}}\n");
      const files = [file, "-f", override];

      await run("validate", ...files);
      await rejects(
        run("deploy", file),
        /The Compose files of .* are .*compose.override.yaml, not/,
      );
      ok((await run("plan", ...files)).includes("service web: create (no container exists)"));
      equal((await run("deploy", ...files)).at(-1), `Version 1 of ${name} is deployed.`);
      deepEqual(await run("plan", ...files), ["service web: none"]);
      const container = `${name}-web-1`;
      equal(await engine.docker("exec", container, "cat", "/html/page"), "hello");
      match(await engine.docker("exec", container, "env"), /^A=1$/m);

      await Deno.writeTextFile(override, "services: {web: {environment: {A: '2'}}}\n");
      equal((await run("deploy", ...files)).at(-1), `Version 2 of ${name} is deployed.`);
      deepEqual(await run("down", ...files), [`Removed containers of ${name}: ${container}`]);
    } finally {
      await Deno.remove(root, { recursive: true });
    }
  },
);

/** The command of a user with a token of the program; `noted` has the notes of the last call. */
async function commandLine(longshore: Longshore) {
  const token = await longshore.token();
  const noted: string[] = [];
  const run = async (...args: string[]) => {
    const printed: string[] = [];
    noted.length = 0;
    const status = await stackCommand({
      args,
      env: { LONGSHORE_URL: longshore.baseUrl, LONGSHORE_TOKEN: token },
      surroundings: {} as never,
      input: Deno.stdin,
      print: (line) => printed.push(line),
      note: (line) => noted.push(line),
      signal: new AbortController().signal,
    });
    equal(status, 0);
    return printed;
  };
  return { noted, run };
}
