import { deepEqual, equal, rejects } from "node:assert/strict";
import { stack } from "../../commands/stack.ts";
import { CommandError, EXIT, UsageError } from "../../commands/program.ts";

/** Runs the command; its lines on standard output and standard error. */
async function run(...args: string[]) {
  const printed: string[] = [];
  const noted: string[] = [];
  const status = await stack({
    args,
    env: {},
    surroundings: {} as never,
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
