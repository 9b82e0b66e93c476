/** Stacks as other programs lay them out, each with one container that is as its Compose file says. @module */

import { join } from "node:path";
import { BUSYBOX, type RealEngine } from "./real_engine.ts";

/** A Compose file, and the container that Compose would create with it. */
const COMPOSE = `services:
  web:
    image: ${BUSYBOX}
    command: sleep 100000
    stop_signal: SIGKILL
    network_mode: none
    environment: {LEVEL: "$LEVEL"}
`;
const CONTAINER = {
  command: ["sleep", "100000"],
  options: ["--stop-signal=SIGKILL", "--env=LEVEL=info", "--network=none"],
};

/** Labels as Compose sets them. */
export const composeLabels = (project: string, path: string, envFile?: string) => ({
  "com.docker.compose.project": project,
  "com.docker.compose.service": "web",
  "com.docker.compose.container-number": "1",
  "com.docker.compose.oneoff": "False",
  "com.docker.compose.config-hash": "x",
  "com.docker.compose.project.working_dir": path.replace(/\/[^/]*$/, ""),
  "com.docker.compose.project.config_files": path,
  ...(envFile !== undefined && { "com.docker.compose.project.environment_file": envFile }),
});

interface Layout extends AsyncDisposable {
  /** Variables of the service. */
  env: Record<string, string>;
}

/** The stack "blog" in a directory of the host. */
export async function onHost(engine: RealEngine): Promise<Layout> {
  await using stack = new AsyncDisposableStack();
  const root = await temporaryRoot(stack, { "blog/compose.yaml": COMPOSE, "blog/.env": ENV });
  await runBlog(stack, engine, join(root, "blog/compose.yaml"));
  return { env: { STACK_ROOTS: root }, ...moved(stack) };
}

/**
 * The stack "blog" in the volume of a program.
 *
 * @param at Path of the volume in the program's container.
 * @param files Texts by path below the volume; the first is the Compose file.
 */
export async function inVolume(
  engine: RealEngine,
  at: string,
  files: readonly [path: string, envPath: string],
): Promise<Layout> {
  await using stack = new AsyncDisposableStack();
  const [path, envPath] = files;
  const root = await temporaryRoot(stack, { [path]: COMPOSE, [envPath]: ENV });
  const volume = `longshore-test-${crypto.randomUUID().slice(0, 8)}`;
  stack.defer(async () => void await engine.docker("volume", "rm", volume));
  const volumes = [`--volume=${volume}:/to`, `--volume=${root}:/from:ro`];
  await engine.docker("run", "--rm", ...volumes, BUSYBOX, "cp", "-a", "/from/.", "/to");
  stack.use(await engine.runContainer({ name: "manager", options: [`--volume=${volume}:${at}`] }));
  const envFile = envPath.endsWith("/.env") ? undefined : join(at, envPath);
  await runBlog(stack, engine, join(at, path), envFile);
  return { env: {}, ...moved(stack) };
}

const ENV = "LEVEL=info\n";

async function runBlog(
  stack: AsyncDisposableStack,
  engine: RealEngine,
  path: string,
  envFile?: string,
): Promise<void> {
  const labels = composeLabels("blog", path, envFile);
  stack.use(await engine.runContainer({ name: "blog-web-1", labels, ...CONTAINER }));
}

async function temporaryRoot(
  stack: AsyncDisposableStack,
  files: Record<string, string>,
): Promise<string> {
  const root = await Deno.makeTempDir({ prefix: "longshore-test-" });
  stack.defer(() => Deno.remove(root, { recursive: true }));
  for (const [path, text] of Object.entries(files)) {
    await Deno.mkdir(join(root, path, ".."), { recursive: true });
    await Deno.writeTextFile(join(root, path), text);
  }
  return root;
}

function moved(stack: AsyncDisposableStack): AsyncDisposable {
  const resources = stack.move();
  return { [Symbol.asyncDispose]: () => resources.disposeAsync() };
}
