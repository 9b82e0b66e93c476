import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { join } from "node:path";
import {
  containerCreate,
  containerInspect,
  containerList,
  containerRemove,
} from "../../engine/containers.ts";
import { connectEngine } from "../../engine/client.ts";
import {
  HELPER_LABEL,
  helperMark,
  helperName,
  releaseHelper,
  removeLeftHelpers,
} from "../../services/containers/helpers.ts";
import { planGivenSources } from "../../services/compose/plan/stored.ts";
import { composeCommand } from "../helpers/docker_compose.ts";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, engineTest, podmanTest, type RealEngine } from "../helpers/real_engine.ts";
import { missingProgram } from "../helpers/sandbox.ts";
import { until } from "../helpers/until.ts";

/** An application whose STACK_ROOTS is a new directory; removes the containers of its stack. */
async function diskApp(engine: RealEngine) {
  await using stack = new AsyncDisposableStack();
  const root = await Deno.makeTempDir({ prefix: "longshore-test-" });
  stack.defer(() => Deno.remove(root, { recursive: true }));
  const app = stack.use(await liveApp(engine.socketPath, { config: { stackRoots: [root] } }));
  app.deps.now = () => new Date();
  const name = `disk${crypto.randomUUID().slice(0, 8)}`;
  const client = connectEngine(engine.socketPath);
  stack.defer(() => client.close());
  const ended = async (id: string) =>
    await until(`job ${id} has ended`, async () => {
      const { body } = await app.call("GET", `/api/jobs/${id}`);
      return body.endedAt !== null && body;
    }, { deadlineMs: 180_000 });
  stack.defer(async () => {
    const { status, body } = await app.call("POST", `/api/stacks/${name}/down`, { volumes: true });
    if (status === 202) await ended(body.id);
  });
  const resources = stack.move();
  return {
    ...app,
    name,
    directory: join(root, name),
    root,
    client,
    ended,
    path: `/api/stacks/${name}`,
    /** Writes a file of the host. */
    async put(file: string, text: string) {
      const path = join(root, name, file);
      await Deno.mkdir(join(path, ".."), { recursive: true });
      await Deno.writeTextFile(path, text);
    },
    text: (file: string) => Deno.readTextFile(join(root, name, file)),
    helpers: async () =>
      (await containerList(client, { all: true, filters: { label: [HELPER_LABEL] } })).length,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

const compose = (more = "") =>
  `# The shop
services:
  web:
    image: ${BUSYBOX}
    command: sleep 1000
    stop_signal: SIGKILL
    healthcheck: {test: "true", interval: 1s}
    env_file: conf/app.env
    volumes: ["./data:/data"]
    secrets: [password]
    environment: {TAG: "$TAG"}
${more}secrets:
  password:
    file: ./password.txt
`;

const writing = async (engine: RealEngine) => {
  await using app = await diskApp(engine);
  const { name, directory, path } = app;

  const created = await app.call("POST", "/api/stacks", {
    name,
    directory,
    compose: compose(),
    env: "TAG=1\n",
    files: { "conf/app.env": "LEVEL=info\n", "password.txt": "s3cret\n" },
    deploy: false,
  });
  equal(created.status, 201, JSON.stringify(created.body));
  equal(await app.text("compose.yaml"), compose());
  equal(await app.text("conf/app.env"), "LEVEL=info\n");
  equal((await Deno.stat(join(directory, ".env"))).mode! & 0o777, 0o600);

  const { body: source } = await app.call("GET", `${path}/source`);
  deepEqual([source.managed, source.directory, source.configFiles, source.env, source.files], [
    "disk",
    directory,
    [join(directory, "compose.yaml")],
    "TAG=1\n",
    { "conf/app.env": "LEVEL=info\n" },
  ]);
  equal(source.version, 1);

  // Owner and mode of a file stay, and so do files that are not given. Podman tells no owner.
  await Deno.chmod(join(directory, "compose.yaml"), 0o640);
  await Deno.chown(join(directory, "compose.yaml"), 1234, 1235);
  const changed = compose("    hostname: shop\n");
  const stored = await app.call("PUT", `${path}/source`, { compose: changed, expectedVersion: 1 });
  equal(stored.status, 200, JSON.stringify(stored.body));
  const { mode, uid, gid } = await Deno.stat(join(directory, "compose.yaml"));
  const owner = engine.kind === "podman" ? [0, 0] : [1234, 1235];
  deepEqual([mode! & 0o777, uid, gid], [0o640, ...owner]);
  equal(await app.text("compose.yaml"), changed);
  equal(await app.text(".env"), "TAG=1\n");

  await app.put("compose.yaml", compose("    hostname: store\n"));
  const refused = await app.call("PUT", `${path}/source`, { compose: changed, expectedVersion: 2 });
  equal(refused.status, 409, JSON.stringify(refused.body));
  match(refused.body.error, /^Version 3 of /);
  match(refused.body.diff, /^- {4}hostname: shop\n\+ {4}hostname: store$/m);
  equal(await app.text("compose.yaml"), compose("    hostname: store\n"));
  const { body: { versions } } = await app.call("GET", `${path}/versions`);
  deepEqual(versions.map((each: Record<string, unknown>) => each.createdBy)[0], "disk");

  equal(await app.helpers(), 0);
  ok(!app.deps.inventory.list().some(({ labels }) => HELPER_LABEL in labels));
};

long(engineTest)("a stack on disk is written, read, and not overwritten", writing);
long(podmanTest)("a stack on disk is written, read, and not overwritten with Podman", writing);

engineTest("a stack on disk is deployed with its real paths", async (engine) => {
  await using app = await diskApp(engine);
  const { name, directory, path } = app;
  await app.put("compose.yml", compose());
  await app.put("compose.override.yaml", "services: {web: {hostname: over}}\n");
  await app.put(".env", "TAG=7\n");
  await app.put("conf/app.env", "LEVEL=debug\n");
  await app.put("password.txt", "s3cret\n");
  await app.put("data/hello", "hello\n");

  // Before it is stored, the files of the directory are planned.
  const first = await app.call("POST", `${path}/plan`, { sources: { directory } });
  equal(first.status, 200, JSON.stringify(first.body));
  deepEqual(
    first.body.changes.map(({ name, action }: Record<string, string>) => `${name} ${action}`),
    ["default create", "web create"],
  );
  const options = { recreate: "changed", removeOrphans: false } as const;
  await rejects(
    planGivenSources(app.deps, { role: "operator" }, name, { directory }, options),
    /^AppError: Plans of other sources of a stack on disk need the role admin$/,
  );
  equal((await app.call("POST", `${path}/plan`, { sources: {} })).status, 400);

  const { status, body } = await app.call("POST", "/api/stacks", { name, directory });
  equal(status, 201, JSON.stringify(body));
  const job = await app.ended(body.job.id);
  equal(job.status, "succeeded", JSON.stringify(job));

  const { Config, Mounts } = await containerInspect(app.client, `${name}-web-1`);
  equal(Config.Hostname, "over");
  deepEqual([...Config.Env ?? []].filter((each) => /^(TAG|LEVEL)=/.test(each)).sort(), [
    "LEVEL=debug",
    "TAG=7",
  ]);
  deepEqual(
    Mounts?.map(({ Source, Destination }) => `${Source}:${Destination}`).sort(),
    [`${directory}/data:/data`, `${directory}/password.txt:/run/secrets/password`],
  );
  equal(Config.Labels?.["com.docker.compose.project.working_dir"], directory);
  equal(
    Config.Labels?.["com.docker.compose.project.config_files"],
    `${directory}/compose.yml,${directory}/compose.override.yaml`,
  );

  // An edit on disk is what the next plan and deploy see.
  await app.put("conf/app.env", "LEVEL=warn\n");
  const plan = await app.call("POST", `${path}/plan`, {});
  equal(plan.body.version, 2);
  const [change] = plan.body.changes.filter(({ kind }: { kind: string }) => kind === "service");
  deepEqual([change.action, change.reasons[0].path], ["recreate", "environment.LEVEL"]);
  const old = await app.call("POST", `${path}/deploy`, { version: 1 });
  equal(old.status, 409);

  // The text decides which variables a plan shows.
  const asking = { compose: compose("    hostname: ${TAG}\n") };
  await rejects(
    planGivenSources(app.deps, { role: "operator" }, name, asking, options),
    /^AppError: Plans of other sources of a stack on disk need the role admin$/,
  );
  equal((await app.call("POST", `${path}/plan`, { sources: asking })).status, 200);
});

long(engineTest)(
  "a stack on disk has the files of COMPOSE_FILE, also those of a later edit",
  async (engine) => {
    await using app = await diskApp(engine);
    const { name, directory, path } = app;
    const app1 = (more = "") =>
      `services:\n  app: {image: ${BUSYBOX}, command: sleep 1000, stop_signal: SIGKILL${more}}\n`;
    await app.put(".env", "COMPOSE_FILE=docker-compose.yml:proxy.yml\n");
    await app.put("docker-compose.yml", app1());
    await app.put(
      "proxy.yml",
      `services:\n  app: {labels: {proxied: "true"}}\n  proxy: {image: ${BUSYBOX}, command: sleep 1000, stop_signal: SIGKILL}\n`,
    );
    const filesOf = (source: { configFiles: string[] }) =>
      source.configFiles.map((file) => file.slice(directory.length + 1));
    const servicesIn = async () => {
      const { body } = await app.call("POST", `${path}/plan`, {});
      return body.changes.filter(({ kind }: { kind: string }) => kind === "service")
        .map((change: { name: string }) => change.name);
    };

    const created = await app.call("POST", "/api/stacks", { name, directory, deploy: false });
    equal(created.status, 201, JSON.stringify(created.body));
    const first = await app.call("GET", `${path}/source`);
    deepEqual(filesOf(first.body), ["docker-compose.yml", "proxy.yml"]);
    deepEqual(await servicesIn(), ["app", "proxy"]);
    const etag = first.headers.get("etag")!;
    const known = { headers: { "if-none-match": etag } };
    equal((await app.call("GET", `${path}/source`, undefined, known)).status, 304);

    await app.put(".env", "COMPOSE_FILE=docker-compose.yml\n");
    const second = await app.call("GET", `${path}/source`, undefined, known);
    deepEqual([second.status, second.body.version], [200, 2]);
    deepEqual(filesOf(second.body), ["docker-compose.yml"]);
    deepEqual(await servicesIn(), ["app"]);

    // Variables that are sent with the text decide which file the text is.
    const sent = {
      compose: app1(", hostname: b"),
      env: "COMPOSE_FILE=docker-compose.yml:proxy.yml\n",
    };
    const stored = await app.call("PUT", `${path}/source`, { ...sent, expectedVersion: 2 });
    equal(stored.status, 200, JSON.stringify(stored.body));
    equal(await app.text("docker-compose.yml"), sent.compose);
    deepEqual(await servicesIn(), ["app", "proxy"]);
  },
);

if (!missingProgram("docker-compose")) {
  long(engineTest)("a project of docker-compose is adopted with its files", async (engine) => {
    await using app = await diskApp(engine);
    const { name, directory, path } = app;
    const run = composeCommand(engine, name, directory);
    await app.put("docker-compose.yml", 'version: "2.4"\n' + compose());
    await app.put(".env", "TAG=1\n");
    await app.put("conf/app.env", "LEVEL=info\n");
    await app.put("password.txt", "s3cret\n");
    await app.put("data/hello", "hello\n");
    await run("up", "--detach");

    const { body: shown } = await app.call("POST", `${path}/adopt`, { dryRun: true });
    deepEqual([shown.adopted, shown.sources.directory, shown.sources.env], [
      false,
      directory,
      "TAG=1\n",
    ]);
    equal((await app.call("GET", path)).body.hasSources, false);

    const { status, body } = await app.call("POST", `${path}/adopt`, {});
    equal(status, 200, JSON.stringify(body));
    equal(body.adopted, true, JSON.stringify(body));
    const { body: source } = await app.call("GET", `${path}/source`);
    deepEqual([source.managed, source.configFiles], ["disk", [`${directory}/docker-compose.yml`]]);
    equal((await app.call("GET", path)).body.hasSources, true);

    const { success, stdout, stderr } = await new Deno.Command("deploy/check-compose.sh", {
      args: [directory],
      env: { COMPOSE: "docker-compose", DOCKER_HOST: `unix://${engine.socketPath}` },
    }).output();
    const [printed, problems] = [stdout, stderr].map((each) => new TextDecoder().decode(each));
    match(printed!, /^ok: services\nskipped: hashes and up/, problems);
    equal(success, true);
  });
}

engineTest("nothing outside of STACK_ROOTS is read or written", async (engine) => {
  await using app = await diskApp(engine);
  const { name, directory, root } = app;
  const outside = await Deno.makeTempDir({ prefix: "longshore-test-" });
  try {
    await Deno.writeTextFile(join(outside, "compose.yaml"), compose());
    await Deno.writeTextFile(join(outside, "secret.env"), "KEY=s3cret\n");
    const create = async (more: object) => {
      const { status, body } = await app.call("POST", "/api/stacks", {
        name,
        deploy: false,
        ...more,
      });
      return `${status} ${body.error}`;
    };
    const text = "services: {}\n";

    match(await create({ directory: outside }), /^409 .* is not below a directory of STACK_ROOTS/);
    match(await create({ directory: root }), /^409 .* is not below a directory of STACK_ROOTS/);
    match(await create({ directory: `${directory}/../../etc` }), /^400 /);
    match(await create({ directory }), /^409 .*compose\.yaml does not exist$/);

    await Deno.symlink(outside, directory);
    match(await create({ directory }), /^409 .* is a symbolic link to .*; use the real path/);
    match(await create({ directory, compose: text }), /^409 .* is a symbolic link to /);
    await Deno.remove(directory);

    await app.put("compose.yaml", "services: {web: {image: a, env_file: app.env}}\n");
    await Deno.symlink(join(outside, "secret.env"), join(directory, "app.env"));
    match(await create({ directory }), /^409 .*app\.env is a symbolic link to /);
    await Deno.remove(join(directory, "app.env"));

    await app.put(
      "compose.yaml",
      `services: {web: {image: a, env_file: ${join(outside, "secret.env")}}}\n`,
    );
    match(await create({ directory }), /^400 .*secret\.env does not exist$/);
    await app.put("compose.yaml", "x".repeat(1024 * 1024 + 1));
    match(await create({ directory }), /^409 .* is larger than 1 MiB$/);
    await Deno.remove(join(directory, "compose.yaml"));
    await Deno.mkdir(join(directory, "compose.yaml"));
    match(await create({ directory }), /^409 .* is a directory$/);
    await Deno.remove(join(directory, "compose.yaml"));

    await app.put("compose.yaml", "services: {other: {image: a}}\n");
    const another = await app.call("POST", "/api/stacks", {
      name,
      directory,
      compose: text,
      deploy: false,
    });
    deepEqual([another.status, another.body.diff !== undefined], [409, true]);
    equal(await app.text("compose.yaml"), "services: {other: {image: a}}\n");
    deepEqual([...Deno.readDirSync(outside)].map(({ name }) => name).sort(), [
      "compose.yaml",
      "secret.env",
    ]);
    equal(await app.helpers(), 0);
  } finally {
    await Deno.remove(outside, { recursive: true });
  }
});

const linking = async (engine: RealEngine) => {
  await using app = await diskApp(engine);
  const { name, directory, root } = app;
  const source = `/api/stacks/${name}/source`;
  const shared = join(root, "shared/app.env");
  await Deno.mkdir(join(root, "shared"));
  await Deno.writeTextFile(shared, "LEVEL=info\n");
  await app.put("conf/app.env", "LEVEL=info\n");
  const text = `services: {web: {image: ${BUSYBOX}, env_file: [app.env, ../shared/app.env]}}\n`;
  await app.put("compose.yaml", text);
  await Deno.symlink("conf/app.env", join(directory, "app.env"));

  const created = await app.call("POST", "/api/stacks", { name, directory, deploy: false });
  equal(created.status, 201, JSON.stringify(created.body));
  const write = async (expectedVersion: number, files = { "app.env": "LEVEL=warn\n" }) => {
    const compose = `services: {web: {image: ${BUSYBOX}, env_file: app.env}}\n`;
    const { status, body } = await app.call("PUT", source, { compose, files, expectedVersion });
    return `${status} ${body.error}`;
  };
  match(await write(1), /^200 /);
  ok((await Deno.lstat(join(directory, "app.env"))).isSymlink);
  equal(await app.text("conf/app.env"), "LEVEL=warn\n");

  const relink = async (file: string, target: string) => {
    await Deno.remove(join(directory, file));
    await Deno.symlink(target, join(directory, file));
  };
  for (const target of ["../shared/app.env", shared]) {
    await relink("app.env", target);
    match((await app.call("GET", source)).body.error, /app\.env is a symbolic link to /);
    match(await write(2), /^409 .*app\.env is a symbolic link to /);
  }
  await relink("compose.yaml", "../shared/app.env");
  match(await write(2), /^409 .*compose\.yaml is a symbolic link to /);
  equal(await Deno.readTextFile(shared), "LEVEL=info\n");

  await Deno.remove(join(directory, "compose.yaml"));
  await new Deno.Command("mkfifo", { args: [join(directory, "compose.yaml")] }).output();
  match((await app.call("GET", source)).body.error, /compose\.yaml is not a regular file$/);
};

engineTest("links inside of a stack's directory are followed, others are not", linking);

// Podman resolves links by itself, inside of the directory that is mounted.
long(podmanTest)("links out of a stack's directory lead nowhere with Podman", async (engine) => {
  await using app = await diskApp(engine);
  const { name, directory, root } = app;
  const source = `/api/stacks/${name}/source`;
  const shared = join(root, "shared/app.env");
  await Deno.mkdir(join(root, "shared"));
  await Deno.writeTextFile(shared, "LEVEL=s3cret\n");
  const compose = `services: {web: {image: ${BUSYBOX}, env_file: [app.env, inner.env]}}\n`;
  await app.put("compose.yaml", compose);
  await app.put("app.env", "LEVEL=info\n");
  await app.put("conf/app.env", "LEVEL=debug\n");
  await Deno.symlink("conf/app.env", join(directory, "inner.env"));
  const created = await app.call("POST", "/api/stacks", { name, directory, deploy: false });
  equal(created.status, 201, JSON.stringify(created.body));
  deepEqual((await app.call("GET", source)).body.files, {
    "app.env": "LEVEL=info\n",
    "inner.env": "LEVEL=debug\n",
  });

  for (const target of ["../shared/app.env", shared]) {
    await Deno.remove(join(directory, "app.env"));
    await Deno.symlink(target, join(directory, "app.env"));
    const { body } = await app.call("GET", source);
    ok(!JSON.stringify(body).includes("s3cret"), JSON.stringify(body));
    const files = { "app.env": "LEVEL=warn\n" };
    await app.call("PUT", source, { compose, files, expectedVersion: body.version });
    equal(await Deno.readTextFile(shared), "LEVEL=s3cret\n");
  }
});

long(engineTest)("containers that a crash left are removed, others stay", async (engine) => {
  await using app = await diskApp(engine);
  const { client, deps } = app;
  const left = async (mark: string, name = helperName()) =>
    (await containerCreate(client, {
      name,
      body: { Image: BUSYBOX, Cmd: ["/none"], Labels: { [HELPER_LABEL]: mark } },
    })).id;
  await left(`${deps.server.id}/1`);
  const released = helperName();
  await left(helperMark(deps), released);
  releaseHelper(released);
  const kept = [
    await left("another/1"),
    await left(helperMark(deps)),
    // Any image may have the label.
    await left(`${deps.server.id}/1`, `web-${crypto.randomUUID()}`),
  ];

  await removeLeftHelpers(deps);

  const listed = await containerList(client, { all: true, filters: { label: [HELPER_LABEL] } });
  deepEqual(listed.map(({ Id }) => Id).sort(), kept.sort());
  for (const id of kept) await containerRemove(client, id);
});

long(engineTest)("a deploy takes what was planned, not what is on disk by then", async (engine) => {
  await using app = await diskApp(engine);
  const { name, directory, path } = app;
  const text = (more = "") =>
    `services: {web: {image: ${BUSYBOX}, command: sleep 1000, stop_signal: SIGKILL${more}}}\n`;
  await app.put("compose.yaml", text());
  await app.call("POST", "/api/stacks", { name, directory, deploy: false });
  const { body: plan } = await app.call("POST", `${path}/plan`, {});
  await app.put("compose.yaml", text(", pid: host"));

  const refused = await app.call("POST", `${path}/deploy`, { expectedVersion: plan.version });

  equal(refused.status, 409);
  match(refused.body.error, /^Version 2 of \w+ was stored meanwhile/);
  match(refused.body.diff, /^\+.*pid: host/m);
  deepEqual((await app.call("GET", `/api/jobs?target=${name}`)).body.jobs, []);

  await app.put("compose.yaml", text());
  const { body: again } = await app.call("POST", `${path}/plan`, {});
  const job = await app.call("POST", `${path}/deploy`, {
    expectedVersion: again.version,
    stableSeconds: 1,
  });
  // Files that are written during the deploy are not deployed either.
  await app.put("compose.yaml", text(", pid: host"));
  equal((await app.ended(job.body.id)).status, "succeeded");
  const { HostConfig } = await containerInspect(app.client, `${name}-web-1`);
  equal(HostConfig.PidMode, "");
});
