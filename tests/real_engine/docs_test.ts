import { deepEqual, equal, ok } from "node:assert/strict";
import { long } from "../helpers/long.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { inVolume, onHost } from "../helpers/manager_layouts.ts";
import { programCommand, runtimeEnvironment } from "../helpers/program.ts";
import { engineTest, type RealEngine } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

const docs = new URL("../../docs/", import.meta.url);

/** Limit for all commands of a test, so that a command that hangs does not hang the tests. */
const COMMANDS_MAX_MS = 600_000;

const METRICS_TOKEN = "token-of-the-scraper";

/** The page whose first block defines the functions that the others use. */
const API_GUIDE = "api.md";

/** The page that starts the trial, which opens the endpoints of the others. */
const EDITIONS = "editions.md";

/** Pages that share the service and the container with no other, with the variables of the service. */
const ALONE: Record<string, Record<string, string>> = {
  // With METRICS_TOKEN, no other token can read the metrics.
  "api-tokens.md": {},
  // Its update goes on in the background.
  "updates.md": { METRICS_TOKEN },
};

/** Pages about other programs, with the layout of a stack that each needs. */
const PROGRAMS: Record<string, (engine: RealEngine) => ReturnType<typeof onHost>> = {
  "dockge.md": onHost,
  "portainer.md": (engine) =>
    inVolume(engine, "/data", [
      "compose/12/v3/docker-compose.yml",
      "compose/12/v3/stack.env",
    ]),
  "arcane-komodo-dockhand.md": (engine) =>
    inVolume(engine, "/app/data", ["projects/blog/compose.yaml", "projects/blog/.env"]),
};

const PAGES = [...Deno.readDirSync(docs)].map(({ name }) => name)
  .filter((name) => name.endsWith(".md") && blocksOf(name).length > 0)
  .sort();
const SHARED = [
  EDITIONS,
  ...PAGES.filter((page) => page !== EDITIONS && !(page in ALONE) && !(page in PROGRAMS)),
];

commandsTest("all other pages in docs/", SHARED, { METRICS_TOKEN, TERMINAL: "admin" });
for (const [page, env] of Object.entries(ALONE)) commandsTest(`docs/${page}`, [page], env);
for (const [page, layOut] of Object.entries(PROGRAMS)) {
  long(engineTest)(
    `the commands of docs/${page} work as printed, and touch no container`,
    async (engine) => {
      await using layout = await layOut(engine);
      await using longshore = await startLongshore({
        engineSocket: engine.socketPath,
        env: layout.env,
      });
      const format = "--format={{.Id}} {{.State.StartedAt}} {{.RestartCount}}";
      const before = await engine.docker("inspect", format, "blog-web-1");
      await runCommands([page], longshore);
      equal(await engine.docker("inspect", format, "blog-web-1"), before);
    },
  );
}

Deno.test("a page that uses the functions of the API guide links them", () => {
  deepEqual(
    PAGES.filter((page) => {
      const uses = blocksOf(page).some((block) => /\b(call|send|field) /.test(block));
      return uses && page !== API_GUIDE && !textOf(page).includes(`${API_GUIDE}#examples`);
    }),
    [],
  );
  ok(textOf(API_GUIDE).includes("\n## Examples\n"));
});

/** Registers a test that runs all shell blocks of the pages, each page in a shell of its own. */
function commandsTest(what: string, pages: string[], env: Record<string, string>): void {
  long(engineTest)(`the commands of ${what} work as printed`, async (engine) => {
    await using _web = await engine.runContainer({ name: "web", network: "bridge" });
    await using _shop = await engine.runContainer({
      labels: {
        "com.docker.compose.project": "shop",
        "com.docker.compose.service": "api",
      },
    });
    await using longshore = await startLongshore({ engineSocket: engine.socketPath, env });
    await until("web is sampled", async () => {
      const { body } = await longshore.call("GET", "/api/containers/web");
      return body.stats ? true : undefined;
    });
    try {
      await runCommands(pages, longshore);
    } finally {
      // A page may have recreated it under another id.
      await engine.docker("rm", "--force", "web");
    }
  });
}

async function runCommands(pages: string[], longshore: Longshore): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "longshore-test-docs-" });
  try {
    const { code, stdout, stderr } = await new Deno.Command("bash", {
      args: ["-euxo", "pipefail", "-c", scriptOf(pages)],
      cwd: directory,
      env: {
        ...runtimeEnvironment(),
        BASE: longshore.baseUrl,
        API_KEY: longshore.apiKey,
        DATA_DIR: longshore.dataDir,
        METRICS_TOKEN,
      },
      stdin: "null",
      signal: AbortSignal.timeout(COMMANDS_MAX_MS),
    }).output();

    const [printed, errors] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    const page = errors!.match(/^\+ : docs\/.*$/gm)?.at(-1);
    equal(code, 0, `${page}\n${printed!.slice(-500)}\n${errors!.slice(-2_000)}`);
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

function scriptOf(pages: string[]): string {
  const [functions, ...guide] = blocksOf(API_GUIDE);
  return [
    `longshore() { ${programCommand([]).map((word) => `'${word}'`).join(" ")} "$@"; }`,
    functions,
    ...pages.map((page) => {
      const blocks = page === API_GUIDE ? guide : blocksOf(page);
      return `: docs/${page}\n(\n${blocks.join("\n")}\n)`;
    }),
  ].join("\n");
}

/** The shell blocks of a page, in order. */
function blocksOf(page: string): string[] {
  return [...textOf(page).matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
}

function textOf(page: string): string {
  return Deno.readTextFileSync(new URL(page, docs));
}
