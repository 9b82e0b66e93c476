/**
 * The tag of a running container moves to a new image, in a real registry; the update has to end as
 * its image deserves. The drills run side by side, as many as jobs may.
 *
 * @module
 */

import { deepEqual, equal, match } from "node:assert/strict";
import type { JobView } from "../../services/jobs/view.ts";
import { comparableContainer, differences } from "../helpers/comparable_container.ts";
import { FULL_DRILL_SEED, reportDrill, updateContainer } from "../helpers/drill.ts";
import { LOOPBACK_ALLOWED } from "../helpers/fake_system.ts";
import { type LiveApp, liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { BUSYBOX, privateEngineTest, type RealEngine } from "../helpers/real_engine.ts";
import { type Registry, startRegistry } from "../helpers/registry.ts";
import { together } from "../helpers/together.ts";
import { until } from "../helpers/until.ts";

/** Ends at once when it is stopped. */
const SLEEP = "trap 'exit 0' TERM; sleep 2147483647 & wait";

/** Answers with its version, and is healthy after `startS` seconds. */
const serve = (version: number, startS = 0) =>
  `sleep ${startS}; echo ${version} > /www/index.html; httpd -h /www; ${SLEEP}`;

/** With the default timeout, which a probe of a busy engine does not reach. */
const HEALTH = "HEALTHCHECK --interval=1s --retries=3 CMD " +
  "wget -qO- http://127.0.0.1/ | grep -q .";

interface Drill {
  /** Continues "an image that". */
  image: string;
  script: string;
  /** As of `docker commit --change`. */
  changes?: string[];
  /** Of the container, for `docker run`. */
  options?: string[];
  body?: object;
  architecture?: string;
  /** `refused`: there is no job. */
  status: JobView["status"] | "refused";
  reason: RegExp;
  /** Whether it is part of a normal run; `update_test.ts` has cases like the others. */
  isShort?: true;
}

const DRILLS: Drill[] = [
  {
    image: "exits at once",
    script: "exit 3",
    options: ["--restart=no"],
    status: "rolled_back",
    reason: /exited with code 3/,
  },
  {
    image: "restarts in a loop",
    script: "exit 1",
    status: "rolled_back",
    // The code is unknown of a container that runs again already.
    reason: /was restarted/,
  },
  {
    image: "becomes unhealthy",
    script: `(sleep 1; killall httpd) & ${serve(2)}`,
    changes: [HEALTH],
    status: "rolled_back",
    reason: /became unhealthy/,
  },
  {
    image: "never becomes healthy",
    script: SLEEP,
    changes: [HEALTH.replace("--retries", "--start-period=1h --retries")],
    body: { verifyTimeoutSeconds: 2 },
    status: "rolled_back",
    reason: /is not healthy after 2 s/,
    isShort: true,
  },
  {
    image: "is healthy for 20 s and then not",
    script: `(sleep 20; killall httpd) & ${serve(2)}`,
    changes: [HEALTH],
    body: { stableSeconds: 30 },
    status: "rolled_back",
    reason: /became unhealthy/,
  },
  {
    image: "takes three times as long to start",
    script: serve(2, 3),
    changes: [HEALTH.replace("--retries", "--start-period=2m --retries")],
    status: "succeeded",
    reason: /is healthy/,
    isShort: true,
  },
  {
    image: "ignores SIGTERM and becomes unhealthy",
    script: "trap '' TERM; while :; do sleep 1; done",
    changes: [HEALTH],
    options: ["--stop-timeout=2"],
    status: "rolled_back",
    reason: /became unhealthy/,
    isShort: true,
  },
  {
    image: "lacks the entry point",
    script: "",
    changes: ['ENTRYPOINT ["/not/there"]'],
    status: "rolled_back",
    reason: /could not be started: .*not\/there/,
  },
  {
    image: "is for another architecture",
    script: serve(2),
    architecture: "s390x",
    status: "refused",
    reason: /is for linux\/s390x/,
    isShort: true,
  },
  {
    image: "is a one-shot task",
    script: "echo done",
    options: ["--restart=no"],
    status: "succeeded",
    reason: /completed with exit code 0/,
  },
];

long(privateEngineTest)(
  "an update ends as its image deserves, and a rollback restores everything",
  async (engine) => {
    await using registry = await startRegistry(engine, { port: 5017 });
    await using app = await liveApp(engine.socketPath, { config: LOOPBACK_ALLOWED });
    app.deps.now = () => new Date();
    const drills = DRILLS.filter(({ isShort }) => isShort || FULL_DRILL_SEED !== undefined);
    await together(Object.fromEntries(
      drills.map((drill, index) => [
        drill.image,
        () => run({ engine, registry, app }, drill, `longshore-test-drill-image-${index}`),
      ]),
    ));
  },
);

interface Stage {
  engine: RealEngine;
  registry: Registry;
  app: LiveApp;
}

async function run({ engine, registry, app }: Stage, drill: Drill, name: string): Promise<void> {
  const repository = `${name}:1`;
  const inspect = async () => JSON.parse(await engine.docker("inspect", name))[0];
  try {
    await makeImage(engine, name, serve(1, 1), [HEALTH]);
    const reference = await registry.push(repository, name);
    const options = ["--restart=always", "--volume=/data", ...drill.options ?? []];
    await engine.docker("run", "--detach", `--name=${name}`, ...options, reference);
    await engine.docker("exec", name, "sh", "-c", "echo kept > /data/marker");
    await until(
      `${name} is healthy`,
      async () => (await inspect()).State.Health.Status === "healthy",
    );
    const before = await inspect();
    await makeImage(engine, name, drill.script, drill.changes ?? [], drill.architecture);
    await registry.push(repository, name);
    await engine.docker("tag", before.Image, reference);

    const drilled = `update to an image that ${drill.image}`;
    if (drill.status === "refused") {
      const { status, body } = await app.call("POST", `/api/containers/${name}/update`, {});
      equal(status, 409);
      match(body.error, drill.reason);
      equal((await inspect()).Id, before.Id);
      return reportDrill(drilled, "refused before anything was pulled");
    }
    const job = await updateContainer(app, name, drill.body);

    equal(job.status, drill.status, job.error ?? "");
    const after = await inspect();
    if (job.status === "succeeded") {
      const result = job.result as { reason: string; id: string; downtimeMs: number };
      match(result.reason, drill.reason);
      deepEqual([result.id, after.Image === before.Image], [after.Id, false]);
      return reportDrill(drilled, `${job.status}, down ${result.downtimeMs} ms`);
    }
    match(job.error!, drill.reason);
    equal(after.Id, before.Id);
    deepEqual(differences(comparableContainer(before), comparableContainer(after)), []);
    equal(await engine.docker("exec", name, "cat", "/data/marker"), "kept");
    await until(`${name} answers`, async () => {
      return await engine.docker("exec", name, "wget", "-qO-", "http://127.0.0.1/") === "1";
    });
    deepEqual(await namesLike(engine, name), [name]);
    const [reason] = job.error!.replaceAll(name, "container").split(": failed");
    reportDrill(drilled, `${job.status}: ${reason}`);
  } finally {
    const names = await namesLike(engine, name);
    if (names.length) await engine.docker("rm", "--force", "--volumes", ...names);
  }
}

async function namesLike(engine: RealEngine, name: string): Promise<string[]> {
  const names = await engine.docker(
    "ps",
    "--all",
    `--filter=name=^/${name}(-|$)`,
    "--format={{.Names}}",
  );
  return names.split("\n").filter((each) => each !== "");
}

/** Makes the image `tag` from the test image. */
async function makeImage(
  engine: RealEngine,
  tag: string,
  script: string,
  changes: readonly string[],
  architecture?: string,
): Promise<void> {
  const command = `CMD ${JSON.stringify(["sh", "-c", script])}`;
  const base = await engine.docker("create", BUSYBOX, "true");
  const options = [command, ...changes].map((change) => `--change=${change}`);
  await engine.docker("commit", ...options, base, tag);
  await engine.docker("rm", base);
  if (architecture !== undefined) await changeArchitecture(engine, tag, architecture);
}

/** The engine builds images for its own architecture only. */
async function changeArchitecture(
  engine: RealEngine,
  tag: string,
  architecture: string,
): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "longshore-test-drill-" });
  try {
    await engine.docker("save", `--output=${directory}/image.tar`, tag);
    const script = `
      cd "$1"
      mkdir image
      tar -xf image.tar -C image
      config=$(sed 's/.*"Config":"\\([^"]*\\)".*/\\1/' image/manifest.json)
      sed -i 's/"architecture":"[^"]*"/"architecture":"'"$2"'"/' "image/$config"
      tar -cf image.tar -C image .`;
    const { success, stderr } = await new Deno.Command("sh", {
      args: ["-euc", script, "sh", directory, architecture],
    }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    await engine.docker("load", `--input=${directory}/image.tar`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}
