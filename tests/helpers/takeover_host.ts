/** A host with stacks that other programs have deployed. @module */

import { dirname, join } from "node:path";
import { connectEngine } from "../../engine/client.ts";
import { type ContainerInspect, containerInspect, containerList } from "../../engine/containers.ts";
import { HELPER_LABEL } from "../../services/containers/helpers.ts";
import { type LiveApp, liveApp } from "./live_app.ts";
import { BUSYBOX, type RealEngine } from "./real_engine.ts";
import { until } from "./until.ts";

/** A stack to deploy with `docker-compose`. */
export interface Layout {
  name: string;
  /** Texts by absolute path; the first is the Compose file. */
  files: Record<string, string>;
  /** Arguments before `up`. */
  args?: string[];
  env?: Record<string, string>;
}

/** A service that stops at once. */
export const service = (more = ""): string =>
  `image: ${BUSYBOX}, command: sleep 100000, stop_signal: SIGKILL${more && `, ${more}`}`;

export type TakeoverHost = Awaited<ReturnType<typeof takeoverHost>>;

interface HostOptions {
  /** Directory for the files. It stays; default: a new one. */
  directory?: string;
  /** Names things; default: with a suffix that no other test has. */
  name?: (short: string) => string;
}

/** Removes all containers, networks, volumes and files of the test. */
export async function takeoverHost(
  engine: RealEngine,
  { directory, name = uniqueNames() }: HostOptions = {},
) {
  await using stack = new AsyncDisposableStack();
  const root = directory ?? await Deno.makeTempDir({ prefix: "longshore-test-" });
  if (directory === undefined) stack.defer(() => Deno.remove(root, { recursive: true }));
  const stacks = join(root, "stacks");
  await Deno.mkdir(stacks);
  const client = connectEngine(engine.socketPath);
  stack.defer(() => client.close());
  const names = new Set<string>();
  stack.defer(async () => {
    for (const name of names) {
      const label = `label=com.docker.compose.project=${name}`;
      await removeAll(engine, ["ps", "--all"], ["rm", "--force", "--volumes"], label);
      await removeAll(engine, ["network", "ls"], ["network", "rm"], label);
      await removeAll(engine, ["volume", "ls"], ["volume", "rm"], label);
    }
  });
  const app: LiveApp = stack.use(
    await liveApp(engine.socketPath, { config: { stackRoots: [stacks] } }),
  );
  app.deps.now = () => new Date();
  const resources = stack.move();
  return {
    app,
    client,
    root,
    /** The directory of STACK_ROOTS. */
    stacks,
    name,
    write: writeAll,
    /** Deploys a stack, and leaves its files. */
    async deploy({ name, files, args = [], env = {} }: Layout): Promise<void> {
      names.add(name);
      await writeAll(files);
      const main = Object.keys(files)[0]!;
      const { success, stderr } = await new Deno.Command("docker-compose", {
        args: ["--project-name", name, ...args, "up", "--detach"],
        cwd: dirname(main),
        env: { DOCKER_HOST: `unix://${engine.socketPath}`, DOCKER_CONFIG: "/nonexistent", ...env },
        stdin: "null",
        stdout: "null",
        stderr: "piped",
      }).output();
      if (!success) throw new Error(new TextDecoder().decode(stderr));
    },
    /**
     * Runs a program that keeps its files in a volume or directory.
     *
     * @param from Directory whose files it gets, for a volume.
     */
    async manager({ name, source, at, from }: {
      name: string;
      source: string;
      at: string;
      from?: string;
    }) {
      const options = [`--volume=${source}:${at}`];
      if (from !== undefined) {
        await engine.docker(
          "run",
          "--rm",
          `--volume=${source}:/to`,
          `--volume=${from}:/from:ro`,
          BUSYBOX,
          "cp",
          "-a",
          "/from/.",
          "/to",
        );
      }
      return await engine.runContainer({ name, options });
    },
    /** Ids and start times of all containers of the stacks. */
    async states(): Promise<Record<string, string>> {
      const states: Record<string, string> = {};
      for (const project of names) {
        for (const { Id, Name, State } of await inspectAll(client, project)) {
          states[Name.slice(1)] = `${Id} ${State.StartedAt}`;
        }
      }
      return states;
    },
    inspect: (project: string) => inspectAll(client, project),
    helpers: async () =>
      (await containerList(client, { all: true, filters: { label: [HELPER_LABEL] } })).length,
    // deno-lint-ignore no-explicit-any
    async scan(): Promise<any> {
      return await until("the scan has ended", async () => {
        const { status, body } = await app.call("GET", "/api/takeover");
        if (status === 200) return body;
        if (status !== 202) throw new Error(JSON.stringify(body));
        const { body: job } = await app.call("GET", `/api/jobs/${body.job.id}`);
        if (job.status === "failed") throw new Error(job.error);
      }, { deadlineMs: 180_000 });
    },
    // deno-lint-ignore no-explicit-any
    async ended(id: string): Promise<any> {
      return await until(`job ${id} has ended`, async () => {
        const { body } = await app.call("GET", `/api/jobs/${id}`);
        return body.endedAt !== null && body;
      }, { deadlineMs: 180_000 });
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function uniqueNames() {
  const suffix = crypto.randomUUID().slice(0, 6);
  return (short: string) => `${short}-${suffix}`;
}

async function writeAll(files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(dirname(path), { recursive: true });
    await Deno.writeTextFile(path, text);
  }
}

async function inspectAll(
  client: ReturnType<typeof connectEngine>,
  project: string,
): Promise<ContainerInspect[]> {
  const label = [`com.docker.compose.project=${project}`];
  const listed = await containerList(client, { all: true, filters: { label } });
  return await Promise.all(listed.map(({ Id }) => containerInspect(client, Id)));
}

async function removeAll(
  engine: RealEngine,
  list: string[],
  remove: string[],
  filter: string,
): Promise<void> {
  const ids = await engine.docker(...list, "--quiet", `--filter=${filter}`);
  if (ids !== "") await engine.docker(...remove, ...ids.split("\n"));
}
