import { deepEqual, equal, rejects } from "node:assert/strict";
import { stack } from "../../commands/stack.ts";
import { CommandError, EXIT, UsageError } from "../../commands/program.ts";

/** Runs the command; its lines on standard output and standard error. */
const run = (...args: string[]) => runWith({}, ...args);

async function runWith(env: Record<string, string>, ...args: string[]) {
  const printed: string[] = [];
  const noted: string[] = [];
  const status = await stack({
    args,
    env,
    surroundings: { packed: false, hostname: "host" } as never,
    input: Deno.stdin,
    print: (line) => printed.push(line),
    note: (line) => noted.push(line),
    signal: AbortSignal.any([]),
  });
  return { status, printed, noted };
}

/** A directory with files, removed in the end. */
function directoryOf(files: Record<string, string>): Disposable & { path: string } {
  const path = Deno.makeTempDirSync();
  for (const [name, text] of Object.entries(files)) Deno.writeTextFileSync(`${path}/${name}`, text);
  return { path, [Symbol.dispose]: () => Deno.removeSync(path, { recursive: true }) };
}

Deno.test("longshore stack validate reads .env and other files next to the Compose file", async () => {
  using directory = directoryOf({
    "compose.yaml": "services: {web: {image: 'nginx:$TAG', env_file: app.env, profiles: [dev]}}",
    ".env": "TAG=1",
    "app.env": "A=b",
  });

  const { status, printed } = await run(
    "validate",
    `${directory.path}/compose.yaml`,
    "--profiles=dev",
    "--json",
  );

  equal(status, EXIT.ok);
  const { services } = JSON.parse(printed.join("\n"));
  equal(services.web.image, "nginx:1");
  deepEqual(services.web.environment, { A: "b" });
});

Deno.test("longshore stack validate prints each problem with its place", async () => {
  using directory = directoryOf({ "compose.yaml": "services:\n  web:\n    imgae: nginx\n" });
  const file = `${directory.path}/compose.yaml`;

  deepEqual(await run("validate", file), {
    status: EXIT.failure,
    printed: [],
    noted: [
      `${file}:3:5: services.web.imgae is unknown; did you mean image?`,
      `${file}:2:3: services.web must have image`,
    ],
  });
});

Deno.test("longshore stack validate refuses wrong arguments and missing files", async () => {
  await rejects(() => run("build"), UsageError);
  await rejects(() => run("validate"), UsageError);
  await rejects(() => run("validate", "/nonexistent.yaml"), CommandError);
});

const MOUNT = "services:\n  web:\n    image: nginx\n    volumes: ['./html:/html']\n";

Deno.test("longshore stack validate takes several files, the later of which win", async () => {
  using directory = directoryOf({
    "compose.yaml": "services: {web: {image: nginx, environment: {A: a, B: b}}}",
    "prod.yaml": "services: {web: {environment: {B: c}}, db: {image: 'postgres:$TAG'}}",
    ".env": "TAG=18\n",
  });
  const { path } = directory;
  for (
    const files of [
      [`${path}/compose.yaml`, "-f", `${path}/prod.yaml`],
      ["--file", `${path}/compose.yaml`, "--file", `${path}/prod.yaml`],
    ]
  ) {
    const { status, printed } = await run("validate", "--json", ...files);
    equal(status, EXIT.ok);
    const { services } = JSON.parse(printed.join("\n"));
    deepEqual(services.web.environment, { A: "a", B: "c" });
    equal(services.db.image, "postgres:18");
  }
  using other = directoryOf({ "compose.yaml": "services: {}" });
  await rejects(
    () => run("validate", `${path}/compose.yaml`, "-f", `${other.path}/compose.yaml`),
    /is not in .*, the directory of the first file; copy it there/,
  );
});

Deno.test("longshore stack validate refuses a relative mount that a deploy would refuse", async () => {
  using root = directoryOf({});
  const directory = `${root.path}/shop`;
  Deno.mkdirSync(directory);
  const file = `${directory}/compose.yaml`;
  Deno.writeTextFileSync(file, MOUNT);
  await rejects(
    () => run("validate", file),
    new RegExp(
      `^CommandError: ${file}:4:15: services.web.volumes\\[0\\] mounts ./html, but the stack has no ` +
        `directory for relative paths; ${directory} is not below a directory of STACK_ROOTS ` +
        "\\(/opt/stacks\\): move the project there, or write the full path$",
    ),
  );
  const env = { STACK_ROOTS: root.path };
  equal((await runWith(env, "validate", file)).status, EXIT.ok);
  Deno.writeTextFileSync(`${directory}/prod.yaml`, "services: {}");
  await rejects(
    () => runWith(env, "validate", file, "-f", `${directory}/prod.yaml`),
    /The Compose files of .* are .*shop\/compose.yaml, not .*set COMPOSE_FILE in .*shop\/.env$/,
  );
  Deno.writeTextFileSync(`${directory}/.env`, "COMPOSE_FILE=compose.yaml:prod.yaml\n");
  const named = await runWith(env, "validate", file, "-f", `${directory}/prod.yaml`);
  deepEqual([named.status, named.noted], [EXIT.ok, []]);
  Deno.writeTextFileSync(`${directory}/other.env`, "");
  await rejects(
    () => runWith(env, "validate", file, `--env-file=${directory}/other.env`),
    /a stack in a directory has its variables in .*shop\/.env/,
  );
});

Deno.test("longshore stack validate warns of what has no effect in the deploy that follows", async () => {
  using root = directoryOf({});
  const directory = `${root.path}/shop`;
  Deno.mkdirSync(directory);
  const file = `${directory}/compose.yaml`;
  const compose = (volume: string) =>
    `services:
  web:
    image: nginx
    volumes: ["${volume}"]
    secrets: [{source: key, uid: "100", mode: "0400"}]
volumes: {data: {}}
secrets: {key: {file: ./key.txt}}
`;
  Deno.writeTextFileSync(`${directory}/key.txt`, "secret");
  Deno.writeTextFileSync(file, compose("data:/data:Z"));
  deepEqual((await run("validate", file)).noted, [
    `${file}:4:15: warning: services.web.volumes[0] has bind.selinux (Z), without effect on a mount ` +
    "of the type volume",
  ]);
  Deno.writeTextFileSync(file, compose("./data:/data:Z"));
  deepEqual((await runWith({ STACK_ROOTS: root.path }, "validate", file)).noted, [
    `${file}:5:15: warning: services.web.secrets[0] has uid, gid or mode without effect: the file is ` +
    "mounted as it is",
  ]);
});
