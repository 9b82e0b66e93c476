/** Updates that are tried out on a copy of the data first. @module */

import { deepEqual, equal, match } from "node:assert/strict";
import { createTrialVolume, removeLeftTrials } from "../../services/updates/trial/parts.ts";
import { type LiveApp, liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, engineTest, podmanTest, type RealEngine } from "../helpers/real_engine.ts";
import { ended, networked, NEVER_STABLE, testStack } from "../helpers/test_stack.ts";

/** Is healthy from then on, and ends at once when it is stopped. */
const RUN = "touch /ready; trap 'exit 0' TERM; sleep 2147483647 & wait";
const HEALTH = { test: ["CMD", "test", "-e", "/ready"], interval: "1s", retries: 100 };
const HEALTH_OPTIONS = [
  "--health-cmd=test -e /ready",
  "--health-interval=1s",
  "--health-retries=100",
];
const MIGRATE = "echo migrated > /data/file";

/** Gives the name of an image to one with another command. */
async function publish({ docker }: RealEngine, image: string, script: string): Promise<void> {
  const id = await docker("create", BUSYBOX);
  const command = JSON.stringify(["sh", "-c", script]);
  await docker("commit", `--change=CMD ${command}`, id, image);
  await docker("rm", id);
}

const leftOver = async ({ docker }: RealEngine): Promise<string> =>
  await docker("ps", "-aq", "--filter=label=longshore.trial") +
  await docker("volume", "ls", "-q", "--filter=label=longshore.trial") +
  await docker("network", "ls", "-q", "--filter=label=longshore.trial");

async function update(app: LiveApp, path: string, body: object) {
  const options = { pull: "never", stableSeconds: 1, ...body };
  const { status, body: started } = await app.call("POST", `${path}/update`, options);
  return status === 202 ? await ended(app, started.id) : { ...started, status, result: null };
}

engineTest("an update that fails in its rehearsal stops and changes nothing", async (real) => {
  const { docker } = real;
  const name = `test-rehearsal-${crypto.randomUUID().slice(0, 8)}`;
  const image = `${name}:1`;
  await publish(real, image, RUN);
  await using app = await liveApp(real.socketPath);
  app.deps.now = () => new Date();
  const path = `/api/containers/${name}`;
  const state = () => docker("inspect", "--format={{.Id}} {{.State.StartedAt}} {{.Image}}", name);
  const read = () => docker("exec", name, "cat", "/data/file");
  await docker(
    "run",
    "-d",
    ...HEALTH_OPTIONS,
    `--name=${name}`,
    `--volume=${name}:/data`,
    "--publish=80",
    image,
  );
  await docker("exec", name, "sh", "-c", "echo old > /data/file");
  const before = await state();

  await publish(real, image, `${MIGRATE}; exit 3`);
  const failed = await update(app, path, { rehearse: true });
  equal(failed.status, "failed");
  match(failed.error, new RegExp(`^The rehearsal failed: ${name} exited with code 3`));
  deepEqual([await state(), await read()], [before, "old"]);
  equal(await leftOver(real), "");
  const { body: { blocked: [block] } } = await app.call("GET", "/api/updates/blocked");
  deepEqual([block.containerName, block.reason], [name, failed.error]);

  await publish(real, image, `${MIGRATE}; ${RUN}`);
  const only = await update(app, path, { rehearseOnly: true });
  equal(only.status, "succeeded", only.error ?? "");
  equal(only.result.updated, false);
  deepEqual([await state(), await read()], [before, "old"]);

  await publish(real, image, `${MIGRATE}; ${RUN}`);
  const done = await update(app, path, { rehearse: true });
  equal(done.status, "succeeded", done.error ?? "");
  match(done.result.rehearsal, /is healthy/);
  equal(await read(), "migrated");
  equal(await leftOver(real), "");

  const { body: blocked } = await app.call("GET", "/api/updates/blocked");
  deepEqual(blocked, { blocked: [] }, "lifted by the success");
  await docker("rm", "-fv", name);
  await docker("volume", "rm", name);
});

long(engineTest)(
  "a rehearsal that the present image fails as well blocks nothing",
  async (real) => {
    const { docker } = real;
    const name = `test-rehearsal-${crypto.randomUUID().slice(0, 8)}`;
    const image = `${name}:1`;
    // Mounts of the host are left out of a copy.
    await publish(real, image, `[ -e /host ] || exit 4; ${RUN}`);
    await using app = await liveApp(real.socketPath);
    app.deps.now = () => new Date();
    await docker("run", "-d", ...HEALTH_OPTIONS, `--name=${name}`, "--volume=/tmp:/host", image);
    const before = await docker("inspect", "--format={{.Id}} {{.State.StartedAt}}", name);
    await publish(real, image, `[ -e /host ] || exit 5; ${RUN}`);
    const path = `/api/containers/${name}`;
    const { body: plan } = await app.call("POST", `${path}/update?plan=true`, { rehearse: true });
    deepEqual(plan.rehearsal, {
      containers: [name],
      copied: [],
      leftOut: ["/tmp"],
      obstacle: null,
    });
    const ended = await update(app, path, { rehearse: true });
    equal(ended.status, "failed");
    match(ended.error, /says nothing: .* code 5, but with the present image .* code 4/);
    const { body: blocked } = await app.call("GET", "/api/updates/blocked");
    deepEqual(blocked, { blocked: [] });
    equal(await docker("inspect", "--format={{.Id}} {{.State.StartedAt}}", name), before);
    await docker("rm", "-fv", name);

    await createTrialVolume(app.deps, crypto.randomUUID(), new AbortController().signal);
    await removeLeftTrials(app.deps);
    equal(await leftOver(real), "", "also what another process has left");
  },
);

long(podmanTest)("Podman rehearses an update", async (real) => {
  const { docker } = real;
  const name = `test-rehearsal-${crypto.randomUUID().slice(0, 8)}`;
  await using app = await liveApp(real.socketPath);
  app.deps.now = () => new Date();
  const script = `[ ! -e /data/file ] || exit 3; echo new > /data/file; ${RUN}`;
  const volume = `--volume=${name}:/data`;
  await docker("run", "-d", `--name=${name}`, volume, BUSYBOX, "sh", "-c", script);
  await docker("exec", name, "sh", "-c", "until [ -e /ready ]; do sleep 0.1; done");
  await docker("exec", name, "mv", "/data/file", "/data/other");
  const path = `/api/containers/${name}`;
  const good = await update(app, path, { rehearseOnly: true, force: true });
  equal(good.status, "succeeded", good.error ?? "");
  match(good.result.rehearsal, /has been up for/);
  await docker("exec", name, "touch", "/data/file");
  const bad = await update(app, path, { rehearseOnly: true, force: true, ...NEVER_STABLE });
  match(bad.error, /says nothing: .* code 3/);
  equal(await leftOver(real), "");
  await docker("rm", "-fv", name);
  await docker("volume", "rm", name);
});

long(engineTest)("new images and a deploy of a stack are rehearsed together", async (real) => {
  await using app = await liveApp(real.socketPath);
  await using stack = testStack(app, real);
  const { name, store, deploy, containers } = stack;
  const image = `${name}:1`;
  await publish(real, image, `httpd -p 70; ${RUN}`);
  const web = ["sh", "-c", `wget -q -O /dev/null db:70/ 2>&1 | grep -q 404 || exit 6; ${RUN}`];
  const source = (more: object) => ({
    services: {
      db: { image, volumes: ["data:/data"], stop_signal: "SIGKILL", healthcheck: HEALTH },
      web: { ...networked, image, command: web, depends_on: ["db"], healthcheck: HEALTH, ...more },
    },
    volumes: { data: {} },
    configs: { key: { content: "secret" } },
  });
  await store(source({}));
  equal((await deploy()).status, "succeeded");
  const before = await containers();
  const ids = (all: typeof before) =>
    Object.values(all).map(({ Id, State }) => [Id, State.StartedAt]);
  await publish(real, image, `exit 7`);
  const failed = await update(app, `/api/stacks/${name}`, { rehearse: true });
  equal(failed.status, "rolled_back");
  match(failed.error, /The rehearsal failed: .*-db-1 exited with code 7/);
  deepEqual(ids(await containers()), ids(before));

  await publish(real, image, `httpd -p 70; ${MIGRATE}; ${RUN}`);
  const done = await update(app, `/api/stacks/${name}`, { rehearse: true });
  equal(done.status, "succeeded", done.error ?? "");
  match(done.result.rehearsal, /-web-1 is healthy/);

  const updated = await containers();
  await store(source({ command: ["sh", "-c", "exit 9"] }));
  const refused = await deploy({ rehearse: true });
  equal(refused.status, "failed");
  match(refused.error ?? "", /^The rehearsal failed: .*-web-1 exited with code 9/);
  equal(refused.result.evidence.length, 2);
  const command = ["sh", "-c", `grep secret /key && wget -q db:70/ 2>&1 | grep -q 404 && ${RUN}`];
  await store(source({ command, configs: ["key"] }));
  const only = await deploy({ rehearseOnly: true });
  equal(only.status, "succeeded", only.error ?? "");
  match(only.result.rehearsal, /-web-1 is healthy/);
  deepEqual(ids(await containers()), ids(updated));
  equal(await leftOver(real), "");
});
