/** A container whose new version changes the files of its volume when it starts. @module */

import { equal } from "node:assert/strict";
import { type LiveApp, liveApp } from "./live_app.ts";
import { BUSYBOX, type RealEngine } from "./real_engine.ts";
import { ended, type EndedJob } from "./test_stack.ts";

/** Ends with 0 when it is stopped, as databases do. */
const RUN = "trap 'exit 0' TERM; while :; do sleep 0.1; done";

/** Refuses files of a newer version. */
const OLD = `test "$(cat /data/version 2> /dev/null || echo 1)" = 1 || exit 3; ${RUN}`;

const MIGRATE = 'test "$(cat /data/version)" = 2 || ' +
  "{ echo 2 > /data/version; mv /data/file /data/file2; echo new >> /data/file2; }";

export const VERSIONS = {
  old: OLD,
  good: `${MIGRATE}; ${RUN}`,
  /** Leaves a device node, which no snapshot has. */
  bad: `${MIGRATE}; mknod /data/null c 1 3; exit 3`,
  /** Fails where the file says so. */
  mixed: `${MIGRATE}; test ! -e /data/bad || exit 3; ${RUN}`,
  /** Fails when it is asked to. */
  slow: `${MIGRATE}; while test ! -e /data/fail; do sleep 0.1; done; exit 3`,
};

/** Makes an image of each version on an engine. @returns What lets a reference name one of them. */
export async function versionImages(
  { docker }: Pick<RealEngine, "docker">,
  reference: string,
): Promise<(version: keyof typeof VERSIONS) => Promise<unknown>> {
  const nameOf = (version: string) => `${reference}-${version}`;
  for (const [version, script] of Object.entries(VERSIONS)) {
    const base = await docker("create", BUSYBOX, "true");
    const command = JSON.stringify(["sh", "-c", script]);
    await docker("commit", `--change=CMD ${command}`, base, nameOf(version));
    await docker("rm", base);
  }
  return (version) => docker("tag", nameOf(version), reference);
}

export interface MigratingApp extends AsyncDisposable {
  app: LiveApp;
  real: RealEngine;
  dataDir: string;
  name: string;
  volume: string;
  /** Lets the reference of the container name a version. */
  publish(version: keyof typeof VERSIONS): Promise<void>;
  /** Calls `POST /api/containers/:id/ACTION`. */
  start(action: "update" | "rollback", body?: object): ReturnType<LiveApp["call"]>;
  /** Starts a job, and waits for its end. */
  run(action: "update" | "rollback", body?: object): Promise<EndedJob>;
  /** Names and content of all files in a volume, by default its own, and their modes and owners. */
  files(volume?: string): Promise<string>;
  /** Adds a container that is removed in the end. */
  add(suffix: string, ...options: string[]): Promise<string>;
}

/** @param options Of `docker run`. */
export async function migratingApp(
  real: RealEngine,
  options: { helperImage?: string; run?: string[] } = {},
): Promise<MigratingApp> {
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-test-data-" });
  const helperImage = options.helperImage ?? null;
  const app = await liveApp(real.socketPath, { config: { dataDir, helperImage } });
  app.deps.now = () => new Date();
  const name = `test-undo-${crypto.randomUUID().slice(0, 8)}`;
  const image = `${name}:1`;
  const volume = `${name}-data`;
  const containers = [name];
  const publish = async (version: keyof typeof VERSIONS) => {
    const base = await real.docker("create", BUSYBOX, "true");
    const command = JSON.stringify(["sh", "-c", VERSIONS[version]]);
    await real.docker("commit", `--change=CMD ${command}`, base, image);
    await real.docker("rm", base);
  };
  const start: MigratingApp["start"] = (action, body) =>
    app.call("POST", `/api/containers/${name}/${action}`, { stableSeconds: 1, ...body });
  const run = (containerName: string, ...more: string[]) =>
    real.docker("run", "--detach", "--stop-timeout=1", `--name=${containerName}`, ...more);
  await publish("old");
  await run(name, "--restart=always", `--volume=${volume}:/data`, ...options.run ?? [], image);
  const write = "echo 1 > /data/version; echo old > /data/file; chmod 640 /data/file; " +
    "chown 7:8 /data/file; mkdir /data/empty; ln -s file /data/link";
  await real.docker("exec", name, "sh", "-c", write);
  return {
    app,
    real,
    dataDir,
    name,
    volume,
    publish,
    start,
    async run(action, body) {
      const { status, body: job } = await start(action, body);
      equal(status, 202, JSON.stringify(job));
      return await ended(app, job.id);
    },
    files: (from = volume) =>
      real.docker(
        "run",
        "--rm",
        `--volume=${from}:/data:ro`,
        BUSYBOX,
        "sh",
        "-c",
        "cd /data; for f in $(ls); do stat -c '%n %A %u:%g' $f; test -d $f || cat $f; done",
      ),
    async add(suffix, ...more) {
      const other = `${name}-${suffix}`;
      containers.push(other);
      return await run(other, ...more, BUSYBOX, "sh", "-c", RUN);
    },
    async [Symbol.asyncDispose]() {
      await app[Symbol.asyncDispose]();
      const found = await real.docker("ps", "-aq", `--filter=name=${name}`);
      const all = [...containers, ...found.split("\n").filter(Boolean)];
      for (const each of all) await real.docker("rm", "-f", "-v", each).catch(() => {});
      const volumes = await real.docker("volume", "ls", "-q", `--filter=name=${name}`);
      for (const each of volumes.split("\n").filter(Boolean)) {
        await real.docker("volume", "rm", "-f", each);
      }
      const images = await real.docker("images", "-aq", `--filter=reference=*${name}*`);
      for (const id of images.split("\n").filter(Boolean)) {
        await real.docker("rmi", "-f", id).catch(() => {});
      }
      await Deno.remove(dataDir, { recursive: true });
    },
  };
}
