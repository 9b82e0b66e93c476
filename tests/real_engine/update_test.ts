import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { ContainerInspect } from "../../engine/containers.ts";
import { getJob } from "../../services/jobs/jobs.ts";
import { resumeJobs } from "../../services/jobs/runner.ts";
import { JOB_KINDS } from "../../services/community/job_kinds.ts";
import type { JobView } from "../../services/jobs/view.ts";
import { type LiveApp, liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import {
  BUSYBOX,
  engineTest,
  ownEngineTest,
  podmanTest,
  privateEngineTest,
  type RealEngine,
} from "../helpers/real_engine.ts";
import { LOOPBACK_ALLOWED } from "../helpers/fake_system.ts";
import { startRegistry } from "../helpers/registry.ts";
import { openTestDatabase } from "../helpers/test_app.ts";
import { together } from "../helpers/together.ts";
import { until } from "../helpers/until.ts";

/** Ends at once when it is stopped. */
const SLEEP = "trap 'exit 0' TERM; sleep 2147483647 & wait";

/** The interval only: a probe of a busy engine takes longer than a short timeout. */
const HEALTHY = ["--health-cmd=true", "--health-interval=1s"];

/** Fails at the first probe that finds the file. */
const UNTIL_BAD = "HEALTHCHECK --interval=1s --retries=1 CMD test ! -e /bad";

/** Longer than a test: what fails cannot pass for stable on a slow machine. */
const NEVER_STABLE = { stableSeconds: 3_600 };

const unique = (what: string) => `test-update-${what}-${crypto.randomUUID().slice(0, 8)}`;

/** A network of its own doubles the processor time of a start. */
const HOST = "--network=host";

/** One that is stopped before its trap is set would need 10 seconds. */
const QUICK = "--stop-timeout=1";

/** A container with an image of its own, whose name can be moved to other images. */
function subject(engine: RealEngine, what: string) {
  const name = unique(what);
  const image = `${name}:1`;
  const containers = [name];
  const ids = new Set<string>();
  const publish = async (script: string, ...changes: string[]) => {
    const command = `CMD ${JSON.stringify(["sh", "-c", script])}`;
    const id = engine.kind === "podman"
      ? await buildImage(engine, image, [command, ...changes])
      : await commitImage(engine, image, [command, ...changes]);
    ids.add(id);
    return id;
  };
  return {
    name,
    image,
    publish,
    /** Removed with everything else. */
    add(container: string) {
      containers.push(container);
      return container;
    },
    run: (...options: string[]) =>
      engine.docker(
        "run",
        "--detach",
        QUICK,
        `--name=${name}`,
        ...options,
        image,
      ),
    async inspect(ref = name): Promise<ContainerInspect> {
      return JSON.parse(await engine.docker("inspect", ref))[0];
    },
    /** The names of all its containers, also of temporary ones. */
    async names(): Promise<string[]> {
      const names = await engine.docker("ps", "-a", `--filter=name=${name}`, "--format={{.Names}}");
      return names.split("\n").sort();
    },
    async [Symbol.asyncDispose]() {
      const found = await engine.docker("ps", "-aq", `--filter=name=${name}`);
      const all = [...containers, ...found.split("\n").filter(Boolean)];
      for (const each of all) await engine.docker("rm", "-f", "-v", each).catch(() => {});
      for (const id of ids) await engine.docker("rmi", "-f", id).catch(() => {});
    },
  };
}

async function commitImage(engine: RealEngine, image: string, changes: string[]): Promise<string> {
  const base = await engine.docker("create", BUSYBOX, "true");
  try {
    const options = changes.flatMap((change) => ["--change", change]);
    return await engine.docker("commit", ...options, base, image);
  } finally {
    await engine.docker("rm", base);
  }
}

/** Podman 4 has no commit in Docker's API. */
async function buildImage(engine: RealEngine, image: string, lines: string[]): Promise<string> {
  const directory = await Deno.makeTempDir({ prefix: "longshore-test-build-" });
  try {
    await Deno.writeTextFile(`${directory}/Dockerfile`, [`FROM ${BUSYBOX}`, ...lines].join("\n"));
    await engine.docker("build", "--quiet", `--tag=${image}`, directory);
    return await engine.docker("inspect", "--format={{.Id}}", image);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

/** The application with the time of the engine. */
async function appOn(engine: RealEngine, options: Parameters<typeof liveApp>[1] = {}) {
  const config = { ...LOOPBACK_ALLOWED, ...options.config };
  const app = await liveApp(engine.socketPath, { ...options, config });
  app.deps.now = () => new Date();
  return app;
}

const admin = { userId: "key", role: "admin", familyId: "", address: "192.0.2.1" } as const;

const ended = (app: LiveApp, id: string): Promise<JobView> =>
  until("the job has ended", () => {
    const job = getJob(app.deps, admin, id);
    return job.endedAt !== null && job;
  }, { deadlineMs: 300_000 });

/** Lets the time of the application stand still, so that a container that runs is never stable. */
function stopClock(app: LiveApp): () => void {
  const { now } = app.deps;
  const at = now();
  app.deps.now = () => at;
  return () => void (app.deps.now = now);
}

/** Waits until the new container is in place and observed. */
const observed = (app: LiveApp, id: string) =>
  until(
    "it is observed",
    () => getJob(app.deps, admin, id).steps.some(({ name }) => name === "verify"),
  );

async function start(app: LiveApp, name: string, body: object = {}, action = "update") {
  const options = action === "update" ? { pull: "never" } : {};
  const { status, body: job } = await app.call("POST", `/api/containers/${name}/${action}`, {
    stableSeconds: 1,
    ...options,
    ...body,
  });
  equal(status, 202, JSON.stringify(job));
  return job as JobView;
}

const run = async (...args: Parameters<typeof start>) =>
  await ended(args[0], (await start(...args)).id);

engineTest(
  "an update takes the new image, and a rollback goes back to the old one",
  async (engine) => {
    await using web = subject(engine, "fine");
    await using app = await appOn(engine);
    const first = await web.publish(SLEEP, "ENV VERSION=1", "LABEL version=1");
    const options = ["--env=OWN=1", "--restart=always", "--volume=/data", ...HEALTHY];
    const oldId = await web.run(HOST, ...options);
    await engine.docker("exec", web.name, "sh", "-c", "echo kept > /data/file");
    const second = await web.publish(`${SLEEP} # 2`, "ENV VERSION=2", "LABEL version=2");

    const plan = await app.call("POST", `/api/containers/${web.name}/update?plan=1`, {});
    equal(plan.status, 200);
    deepEqual(plan.body.replaced, [
      { setting: "environment", names: ["VERSION"] },
      { setting: "labels", names: ["version"] },
      { setting: "command", names: [] },
    ]);
    deepEqual([plan.body.currentImageId, plan.body.newImageId], [first, second]);

    // The image came from no registry, so that it is not pulled.
    const job = await run(app, web.name, { pull: undefined });
    equal(job.status, "succeeded", job.error ?? "");
    const after = await web.inspect();
    deepEqual([after.Image, after.State.Running, after.Id === oldId], [second, true, false]);
    deepEqual(after.Config.Labels?.version, "2");
    ok(after.Config.Env!.includes("VERSION=2") && after.Config.Env!.includes("OWN=1"));
    equal(await engine.docker("exec", web.name, "cat", "/data/file"), "kept");
    deepEqual(await web.names(), [web.name]);
    const result = job.result as Record<string, unknown>;
    deepEqual([result.verdict, result.oldId, result.id], ["success", oldId, after.Id]);
    ok(Number(result.downtimeMs) >= 0);
    match(
      await engine.docker("inspect", "--format={{.RepoTags}}", first),
      new RegExp(`longshore-previous/${web.name}:`),
    );

    const { previousImage } = (await app.call("GET", `/api/containers/${web.name}`)).body;
    equal(previousImage.reference, web.image);

    const again = await run(app, web.name);
    deepEqual([again.status, (again.result as typeof result).updated], ["succeeded", false]);

    const back = await run(app, web.name, {}, "rollback");
    deepEqual([back.kind, back.status], ["container.rollback", "succeeded"], back.error ?? "");
    const restored = await web.inspect();
    deepEqual([restored.Image, restored.Config.Image], [first, web.image]);
    equal(await engine.docker("exec", web.name, "cat", "/data/file"), "kept");
    const { blocked } = (await app.call("GET", "/api/updates/blocked")).body;
    deepEqual(blocked.map(({ digest }: { digest: string }) => digest), [second]);
  },
);

interface BadImage {
  script: string;
  changes?: string[];
  options?: string[];
  /** Change that makes the new container fail while it is observed. */
  spoil?: string[];
  error: RegExp;
}

const BAD_IMAGES: Record<string, BadImage> = {
  "exits at once": {
    script: "echo no database; exit 3",
    error: /was restarted/,
  },
  "exits at once without a restart policy": {
    script: "exit 3",
    options: ["--restart=no"],
    error: /exited with code 3/,
  },
  "becomes unhealthy": {
    script: SLEEP,
    changes: ["HEALTHCHECK --interval=1s --retries=1 CMD false"],
    error: /became unhealthy/,
  },
  "is healthy first and then not": {
    script: SLEEP,
    changes: [UNTIL_BAD],
    spoil: ["touch", "/bad"],
    error: /became unhealthy/,
  },
  "lacks its entry point": {
    script: SLEEP,
    changes: ['ENTRYPOINT ["/none"]'],
    error: /could not be started: .*\/none/,
  },
};

engineTest("an image that fails is rolled back and blocked", async (engine) => {
  await using app = await appOn(engine);
  await together(Object.fromEntries(
    Object.entries(BAD_IMAGES).map((
      [what, image],
    ) => [what, () => assertRolledBack(engine, app, image)]),
  ));
});

async function assertRolledBack(
  engine: RealEngine,
  app: LiveApp,
  { script, changes = [], options = [], spoil, error }: BadImage,
): Promise<void> {
  await using web = subject(engine, "bad");
  const first = await web.publish(SLEEP);
  const oldId = await web.run(HOST, "--restart=always", ...options);
  const before = await web.inspect();
  const second = await web.publish(script, ...changes);

  const { id } = await start(app, web.name, NEVER_STABLE);
  if (spoil) {
    await observed(app, id);
    await until("healthy", async () => (await web.inspect()).State.Health?.Status === "healthy");
    await engine.docker("exec", web.name, ...spoil);
  }
  const job = await ended(app, id);

  equal(job.status, "rolled_back", job.error ?? "");
  match(job.error!, error);
  const after = await web.inspect();
  deepEqual([after.Id, after.Image, after.State.Running], [oldId, first, true]);
  deepEqual(after.HostConfig, before.HostConfig);
  deepEqual(await web.names(), [web.name]);
  const { blocked } = (await app.call("GET", "/api/updates/blocked")).body;
  const block = blocked.find(({ jobId }: { jobId: string }) => jobId === id);
  deepEqual([block?.containerName, block?.digest], [web.name, second]);

  const path = `/api/containers/${web.name}/update`;
  const refused = await app.call("POST", path, { pull: "never" });
  equal(refused.status, 409);
  match(refused.body.error, /^The update of \S+ is blocked/);
  equal((await app.call("DELETE", `/api/updates/blocked/${block.id}`)).status, 200);
}

long(engineTest)("the log of a failed container is kept with its job", async (engine) => {
  await using web = subject(engine, "log");
  await using app = await appOn(engine);
  await web.publish(SLEEP);
  await web.run(HOST);
  await web.publish(`echo starting; echo migration failed; ${SLEEP}`);

  const job = await run(app, web.name, {
    ...NEVER_STABLE,
    logPatternMustNotAppear: "migration \\w+ed$",
  });

  equal(job.status, "rolled_back");
  match(job.error!, /logged a line that must not appear/);
  const { evidence: [evidence] } = job.result as { evidence: { logLines: string[] }[] };
  deepEqual(evidence!.logLines.map((line) => line.replace(/^\S+ /, "")), [
    "starting",
    "migration failed",
  ]);
  // For the messages about the rollback.
  deepEqual(app.deps.crashLines.get(job.id), ["Log: starting", "Log: migration failed"]);
});

long(engineTest)(
  "a task that completes is a success, and a broken container is not rolled back",
  async (engine) => {
    await using web = subject(engine, "task");
    await using app = await appOn(engine);
    await web.publish(SLEEP);
    await web.run(HOST);
    const second = await web.publish("exit 0");
    const job = await run(app, web.name, NEVER_STABLE);
    deepEqual([job.status, (await web.inspect()).Image], ["succeeded", second]);
    match((job.result as { reason: string }).reason, /completed with exit code 0/);

    await using sick = subject(engine, "sick");
    await sick.publish(SLEEP, "HEALTHCHECK --interval=1s --retries=1 CMD false");
    await sick.run(HOST);
    await until(
      "unhealthy",
      async () => (await sick.inspect()).State.Health?.Status === "unhealthy",
    );
    const newer = await sick.publish(
      `${SLEEP} # 2`,
      "HEALTHCHECK --interval=1s --retries=1 CMD false",
    );
    const inconclusive = await run(app, sick.name);
    deepEqual(
      [inconclusive.status, (inconclusive.result as { verdict: string }).verdict],
      ["succeeded", "inconclusive"],
    );
    equal((await sick.inspect()).Image, newer);
  },
);

long(engineTest)("dependents follow the new container, and the old one back", (engine) => {
  const [good, bad] = [`${SLEEP} # 2`, "exit 1"];
  return together({
    forward: () => assertFollowed(engine, { script: good, options: {}, isGood: true }),
    back: () => assertFollowed(engine, { script: bad, options: NEVER_STABLE, isGood: false }),
  });
});

async function assertFollowed(
  engine: RealEngine,
  { script, options, isGood }: { script: string; options: object; isGood: boolean },
): Promise<void> {
  await using web = subject(engine, "shared");
  await using app = await appOn(engine);
  await web.publish(SLEEP);
  const oldId = await web.run();
  const sidecar = web.add(`${web.name}-sidecar`);
  const sharing = `--network=container:${web.name}`;
  const oldSidecar = await engine.docker(
    "run",
    "-d",
    QUICK,
    `--name=${sidecar}`,
    sharing,
    BUSYBOX,
    "sh",
    "-c",
    SLEEP,
  );
  const linking = web.add(`${web.name}-linking`);
  const link = `--link=${web.name}:friend`;
  await engine.docker(
    "run",
    "-d",
    QUICK,
    `--name=${linking}`,
    link,
    BUSYBOX,
    "sh",
    "-c",
    SLEEP,
  );
  await until(
    "all are known",
    () => app.deps.inventory.list().some(({ name }) => name === linking),
  );
  await web.publish(script);

  const job = await run(app, web.name, options);

  equal(job.status, isGood ? "succeeded" : "rolled_back", job.error ?? "");
  const [after, moved] = [await web.inspect(), await web.inspect(sidecar)];
  deepEqual([after.Id === oldId, moved.Id === oldSidecar], [!isGood, !isGood]);
  equal(moved.HostConfig.NetworkMode, `container:${after.Id}`);
  const links = (name: string) => engine.docker("exec", name, "ip", "link");
  equal(await links(sidecar), await links(web.name));
  await engine.docker("exec", linking, "ping", "-c", "1", "-W", "5", "friend");
  deepEqual(await web.names(), [web.name, linking, sidecar].sort());
}

engineTest(
  "a stop of the service during the verification is survived, and other actions wait",
  async (engine) => {
    await using web = subject(engine, "crash");
    const db = openTestDatabase();
    await web.publish(SLEEP);
    await web.run(HOST, "--restart=always");
    const second = await web.publish(`${SLEEP} # 2`);
    let id: string;
    {
      await using app = await appOn(engine, { db });
      stopClock(app);
      ({ id } = await start(app, web.name));
      await observed(app, id);
      for (const action of ["stop", "restart", "rebuild", "update"]) {
        const { status, body } = await app.call(
          "POST",
          `/api/containers/${web.name}/${action}`,
          {},
        );
        equal(status, 409, action);
        match(body.error, /is being updated|has not finished yet/);
      }
      app.deps.jobs.stop();
      await app.deps.jobs.idle();
      app.deps.jobs.close();
    }
    // As an engine that was stopped meanwhile would leave it.
    await engine.docker("stop", web.name);
    await using app = await appOn(engine, { db });
    resumeJobs(app.deps, JOB_KINDS);

    const job = await ended(app, id);

    equal(job.status, "succeeded", job.error ?? "");
    const after = await web.inspect();
    deepEqual([after.Image, after.State.Running], [second, true]);
    deepEqual(await web.names(), [web.name]);
  },
);

long(engineTest)(
  "the first failure of a stack's update decides about all of it",
  (engine) =>
    together({
      "puts all of it back": () => assertFirstFailure(engine, true),
      "keeps what was updated before": () => assertFirstFailure(engine, false),
    }),
);

async function assertFirstFailure(engine: RealEngine, isAtomic: boolean): Promise<void> {
  await using app = await appOn(engine);
  await using db = subject(engine, "db");
  await using web = subject(engine, "web");
  const stack = unique("stack");
  const member = (service: string, ...more: string[]) =>
    ["project=" + stack, "service=" + service, ...more]
      .map((label) => `--label=com.docker.compose.${label}`);
  const oldImage = await db.publish(SLEEP);
  const oldDb = await db.run(...member("db"));
  await web.publish(SLEEP);
  const sharing = `--network=container:${db.name}`;
  const oldWeb = await web.run(sharing, ...member("web", "depends_on=db:service_started:false"));
  await until(
    "both are known",
    () =>
      app.deps.inventory.list().filter(({ composeProject }) => composeProject === stack)
        .length === 2,
  );
  const newImage = await db.publish(`${SLEEP} # 2`);
  // Without a probe it is never stable.
  await web.publish("exit 1", "HEALTHCHECK --interval=1h CMD true");
  const update = async () => {
    // The images are built here, so that no registry is asked for them.
    const options = { atomic: isAtomic, pull: "always", stableSeconds: 1 };
    const { status, body } = await app.call("POST", `/api/stacks/${stack}/update`, options);
    equal(status, 202, JSON.stringify(body));
    return await ended(app, body.id);
  };

  const failed = await update();

  match(failed.error!, new RegExp(`^${web.name} exited with code 1`));
  equal(failed.status, isAtomic ? "rolled_back" : "failed");
  const [dbNow, webNow] = [await db.inspect(), await web.inspect()];
  equal(dbNow.Image, isAtomic ? oldImage : newImage);
  deepEqual([dbNow.Id === oldDb, webNow.Id === oldWeb], [isAtomic, isAtomic]);
  deepEqual([dbNow.State.Running, webNow.State.Running], [true, true]);
  equal(webNow.HostConfig.NetworkMode, `container:${dbNow.Id}`);
  deepEqual([await db.names(), await web.names()], [[db.name], [web.name]]);

  await web.publish(`${SLEEP} # 2`);
  const second = await update();
  equal(second.status, "succeeded", second.error ?? "");
  const after = await web.inspect();
  deepEqual([(await db.inspect()).Image, after.State.Running], [newImage, true]);
  equal(after.HostConfig.NetworkMode, `container:${(await db.inspect()).Id}`);
  deepEqual([await db.names(), await web.names()], [[db.name], [web.name]]);
}

long(privateEngineTest)(
  "an update pulls what its tag names now, or changes nothing",
  async (engine) => {
    await using registry = await startRegistry(engine);
    await using web = subject(engine, "pull");
    await using app = await appOn(engine);
    const reference = `${registry.address}/${web.name}:1`;
    const publish = async (script: string) => {
      const id = await web.publish(script);
      await registry.push(`${web.name}:1`, web.image);
      return id;
    };
    const first = await publish(SLEEP);
    await engine.docker("pull", reference);
    await engine.docker("run", "--detach", QUICK, `--name=${web.name}`, reference);

    await publish("exit 3");
    const failed = await run(app, web.name, { ...NEVER_STABLE, pull: "always" });
    deepEqual([failed.status, failed.steps.map(({ name }) => name)], [
      "rolled_back",
      ["plan", "pull", "create", "swap", "verify", "evidence", "roll_back"],
    ]);
    equal(await engine.docker("inspect", "--format={{.Id}}", reference), first, "named as before");
    const { blocked: [block] } = (await app.call("GET", "/api/updates/blocked")).body;
    match(block.digest, /^sha256:[0-9a-f]{64}$/);
    const path = `/api/containers/${web.name}/update`;
    const refused = await app.call("POST", path, { pull: "always" });
    equal(refused.status, 409);
    match(
      refused.body.error,
      /^The update of \S+ is blocked: \S+ exited with code 3; the page Updates can allow it again$/,
    );

    const plan = async () => (await app.call("POST", `${path}?plan=1`, {})).body;
    const { newDigest: digest, newImageId } = await plan();
    deepEqual([digest, newImageId], [block.digest, null], "not the image that is named again");
    const third = await publish(`${SLEEP} # 3`);
    const moved = await app.call("POST", path, { digest });
    equal(moved.status, 409);
    match(moved.body.error, /:1 has changed meanwhile; plan the update again$/);
    const updated = await run(app, web.name, { pull: "always" });
    equal(updated.status, "succeeded", updated.error ?? "");
    equal((await web.inspect()).Image, third);
    equal((await plan()).newImageId, third);
    deepEqual((await app.call("GET", "/api/updates/blocked")).body.blocked, []);

    await registry.stop();
    const before = await web.inspect();
    const away = await run(app, web.name, { pull: "always" });
    deepEqual([away.status, (await web.inspect()).State], ["failed", before.State]);
    await registry.restart();
  },
);

long(ownEngineTest)("a crash of the engine during the verification is survived", async (engine) => {
  await using web = subject(engine, "engine");
  await using app = await appOn(engine);
  await web.publish(SLEEP);
  await web.run(HOST);
  const second = await web.publish(`${SLEEP} # 2`);
  const startClock = stopClock(app);
  const { id } = await start(app, web.name);
  await observed(app, id);
  await engine.kill();
  await engine.restart();
  startClock();

  const job = await ended(app, id);

  equal(job.status, "succeeded", job.error ?? "");
  const after = await web.inspect();
  deepEqual([after.Image, after.State.Running], [second, true]);
  deepEqual(await web.names(), [web.name]);
});

engineTest(
  "an old container that cannot return leaves the new one, and blocks updates",
  async (engine) => {
    await using web = subject(engine, "attention");
    await using app = await appOn(engine);
    await web.publish(SLEEP);
    const oldId = await web.run(HOST, "--restart=always");
    await web.publish(`${SLEEP} # 2`, UNTIL_BAD);
    const { id } = await start(app, web.name, NEVER_STABLE);
    await observed(app, id);
    await engine.docker("rm", "-f", oldId);
    await engine.docker("exec", web.name, "touch", "/bad");

    const job = await ended(app, id);

    equal(job.status, "needs_attention");
    match(
      job.error!,
      /became unhealthy; the old container could not be restored: .*no longer exists/,
    );
    const after = await web.inspect();
    deepEqual([after.Id === oldId, after.State.Running], [false, true]);
    equal(after.HostConfig.RestartPolicy?.Name, "always");
    deepEqual(await web.names(), [web.name]);
    const { blocked: [block] } = (await app.call("GET", "/api/updates/blocked")).body;
    deepEqual([block.containerName, block.digest], [web.name, "*"]);
  },
);

long(podmanTest)("Podman updates and rolls back", async (engine) => {
  await using web = subject(engine, "podman");
  await using app = await appOn(engine);
  const first = await web.publish(SLEEP);
  await web.run();
  const second = await web.publish(`${SLEEP} # 2`);
  const job = await run(app, web.name);
  equal(job.status, "succeeded", job.error ?? "");
  const updated = await web.inspect();
  deepEqual([updated.Image.replace("sha256:", ""), updated.State.Running], [
    second.replace("sha256:", ""),
    true,
  ]);

  await web.publish("exit 3");
  const failed = await run(app, web.name, NEVER_STABLE);
  equal(failed.status, "rolled_back", failed.error ?? "");
  const after = await web.inspect();
  deepEqual([after.Id, after.State.Running], [updated.Id, true]);
  deepEqual(await web.names(), [web.name]);
  equal((await run(app, web.name, {}, "rollback")).status, "succeeded");
  equal((await web.inspect()).Image.replace("sha256:", ""), first.replace("sha256:", ""));
});
