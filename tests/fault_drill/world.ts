/** World of a fault drill: an engine, the program, a target behind a proxy, disks that can be filled. @module */

import { equal } from "node:assert/strict";
import { type EngineProxy, startEngineProxy } from "../helpers/engine_proxy.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { versionImages, type VERSIONS } from "../helpers/migrating_app.ts";
import { BUSYBOX, type OwnEngine, type RealEngine } from "../helpers/real_engine.ts";
import { runInside, type Sandbox } from "../helpers/sandbox.ts";
import { type Fault, startFaultyProxy, startRest } from "../helpers/target_servers.ts";
import { until } from "../helpers/until.ts";

export const NAME = "drill-fault";

export type Version = keyof typeof VERSIONS;

export interface EndedJob {
  id: string;
  status: string;
  error: string | null;
  endedAt: string | null;
  // deno-lint-ignore no-explicit-any
  result: any;
}

/** A small disk, which has as many bytes left as a drill wants. */
export interface Disk {
  path: string;
  /** Leaves so many bytes; `undefined` leaves all. */
  leave(bytes: number | undefined): Promise<void>;
}

/** An engine in a sandbox; only an own one can crash. */
export type DrillEngine =
  & RealEngine
  & { sandbox: Sandbox }
  & Partial<Pick<OwnEngine, "kill" | "restart">>;

export interface World extends AsyncDisposable {
  engine: DrillEngine;
  proxy: EngineProxy;
  longshore: Longshore;
  /** Lets the reference of the container's image name a version. */
  publish(version: Version): Promise<unknown>;
  /** Makes a target the default one, which updates use. */
  useTarget(name: keyof World["repositories"]): Promise<void>;
  /** Decides about each request to the REST target. */
  onTargetRequest(rule: () => Fault | undefined): void;
  /** The disk of `DATA_DIR`, that of a target, and that of the volume. */
  disks: Record<"data" | "target" | "volume", Disk>;
  /** Directory, or address, of a repository for restic, by the name of its target. */
  repositories: Record<"disk" | "rest", string>;
}

/** Size of a disk, in bytes. */
const DISK_BYTES = 32 * 1024 * 1024;

const PASSWORD = "of the drill";

export async function openWorld(engine: DrillEngine): Promise<World> {
  await using stack = new AsyncDisposableStack();
  const proxy = stack.use(startEngineProxy(engine.socketPath, engine.sandbox.directory));
  const rest = stack.use(await startRest());
  let rule: () => Fault | undefined = () => undefined;
  const faulty = stack.use(await startFaultyProxy(rest.url, () => rule()));
  const data = await mountDisk(stack);
  const target = await mountDisk(stack);
  const volume = await mountInside(engine);
  const longshore = stack.use(
    await startLongshore({
      dataDir: data.path,
      engineSocket: proxy.socketPath,
      env: { OUTBOUND_ALLOW: "127.0.0.0/8", BACKUP_DIRS: target.path },
    }),
  );
  const repositories = { disk: `${target.path}/repository`, rest: `rest:${rest.url}/` };
  const locations = { disk: repositories.disk, rest: `rest:${faulty.url}/` };
  const ids = new Map<string, string>();
  for (const [name, location] of Object.entries(locations)) {
    const body = { name, location, password: PASSWORD, default: false };
    const { status, body: answer } = await longshore.call("POST", "/api/backup/targets", body);
    equal(status, 201, JSON.stringify(answer));
    ids.set(name, answer.id);
  }
  const all = stack.move();
  all.defer(() => removeContainers({ engine }));
  return {
    ...{ engine, proxy, longshore, repositories },
    publish: await versionImages(engine, `${NAME}:1`),
    async useTarget(name) {
      const path = `/api/backup/targets/${ids.get(name)}`;
      equal((await longshore.call("PUT", path, { default: true })).status, 200);
    },
    onTargetRequest: (given) => rule = given,
    disks: { data, target, volume },
    [Symbol.asyncDispose]: () => all.disposeAsync(),
  };
}

/** A memory file system on the host, whose room is taken by a file. */
async function mountDisk(stack: AsyncDisposableStack): Promise<Disk> {
  const path = await Deno.makeTempDir({ prefix: "longshore-drill-disk-" });
  const run = async (command: string, ...args: string[]) =>
    equal((await new Deno.Command(command, { args }).output()).success, true, command);
  await run("mount", "-t", "tmpfs", "-o", `size=${DISK_BYTES}`, "tmpfs", path);
  stack.defer(async () => {
    await run("umount", "--lazy", path);
    await Deno.remove(path);
  });
  return { path, leave: (bytes) => run("sh", "-c", fillScript(path, bytes)) };
}

/** The same where the engine sees it. */
async function mountInside({ sandbox }: DrillEngine): Promise<Disk> {
  const path = `${sandbox.directory}/data/drill`;
  const run = async (script: string) => void await runInside(sandbox, ["sh", "-c", script]);
  await run(
    `mkdir -p ${path} && mount -t tmpfs -o size=${DISK_BYTES} tmpfs ${path} && mkdir ${path}/v`,
  );
  return { path, leave: (bytes) => run(fillScript(path, bytes)) };
}

const fillScript = (path: string, bytes: number | undefined): string => {
  const empty = `rm -f ${path}/filler; `;
  if (bytes === undefined) return empty;
  return `${empty}left=$(df -B1 --output=avail ${path} | tail -1); ` +
    `head -c $((left > ${bytes} ? left - ${bytes} : 0)) /dev/zero > ${path}/filler`;
};

/** Runs a shell command in the container. */
export const exec = ({ engine }: Pick<World, "engine">, script: string) =>
  engine.docker("exec", NAME, "sh", "-c", script);

/** Labels of a stack with one service. */
const STACK = ["project", "service"].map((each) => `--label=com.docker.compose.${each}=${NAME}`);

/** A new container of the old version, with `old` in a file of its volume. */
export async function startContainer(world: World): Promise<void> {
  const { engine, disks: { volume }, longshore } = world;
  await removeContainers(world);
  await world.publish("old");
  await runInside(engine.sandbox, [
    "sh",
    "-c",
    `rm -rf ${volume.path}/v && mkdir ${volume.path}/v`,
  ]);
  const options = ["type=none", "o=bind", `device=${volume.path}/v`].map((each) => `--opt=${each}`);
  await engine.docker("volume", "create", "--driver=local", ...options, NAME);
  const run = ["--restart=always", "--stop-timeout=1", `--volume=${NAME}:/data`, `--name=${NAME}`];
  await engine.docker("run", "--detach", ...STACK, ...run, `${NAME}:1`);
  await exec(world, "echo 1 > /data/version; echo old > /data/file");
  await until("it is listed", async () => {
    const { body } = await longshore.call("GET", `/api/containers/${NAME}`);
    return body.state === "running";
  });
}

/** Filter for containers with the volume: also helper containers, and those with temporary names. */
export const USERS = [`--filter=volume=${NAME}`];

export async function removeContainers({ engine }: Pick<World, "engine">): Promise<void> {
  const ids = await engine.docker("ps", "--all", "--quiet", ...USERS);
  if (ids) await engine.docker("rm", "--force", ...ids.split("\n"));
  const volumes = await engine.docker("volume", "ls", "--quiet", `--filter=name=${NAME}`);
  if (volumes) await engine.docker("volume", "rm", ...volumes.split("\n"));
}

/** Files of the volume, and their content. */
export function filesOf({ engine }: Pick<World, "engine">): Promise<string> {
  const read = "cd /data; ls; cat version; cut -c 1-40 file* || true";
  const mount = `--volume=${NAME}:/data:ro`;
  return engine.docker("run", "--rm", "--network=none", mount, BUSYBOX, "sh", "-c", read);
}

/** Runs a job to its end. */
export async function runJob(world: World, path: string, body: object): Promise<EndedJob> {
  const { status, body: job } = await world.longshore.call("POST", path, body);
  equal(status, 202, JSON.stringify(job));
  return await jobEnd(world, job.id);
}

export const jobEnd = ({ longshore }: Pick<World, "longshore">, id: string): Promise<EndedJob> =>
  until(`job ${id} has ended`, async () => {
    const { status, body } = await longshore.call("GET", `/api/jobs/${id}`);
    return status === 200 && body.endedAt !== null && body;
  }, { deadlineMs: 900_000 });

/** The real restic reads every byte of a repository. */
export async function assertRepository(world: World, name: "disk" | "rest"): Promise<void> {
  const restic = async (...args: string[]) => {
    const { code, stdout, stderr } = await new Deno.Command("restic", {
      args: ["--no-cache", "--repo", world.repositories[name], ...args],
      env: { RESTIC_PASSWORD: PASSWORD },
    }).output();
    const text = new TextDecoder();
    equal(code, 0, `restic ${args[0]}: ${text.decode(stdout)}${text.decode(stderr)}`);
  };
  await restic("unlock", "--remove-all");
  await restic("check", "--read-data");
}
