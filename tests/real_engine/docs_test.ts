import { equal } from "node:assert/strict";
import { startLongshore } from "../helpers/longshore.ts";
import { programCommand, runtimeEnvironment } from "../helpers/program.ts";
import { engineTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

const docs = new URL("../../docs/", import.meta.url);

/** Limit for all commands of a page, so that a command that hangs does not hang the tests. */
const PAGE_MAX_MS = 600_000;

const METRICS_TOKEN = "token-of-the-scraper";

const PAGES = [
  "api",
  "api-tokens",
  "backup",
  "community",
  "enterprise",
  "logs",
  "monitoring",
  "notifications",
  "pro",
  "sign-in",
  "terminal",
  "update-checks",
  "updates",
];

for (const page of PAGES) {
  engineTest(`the commands of docs/${page}.md work as printed`, async (engine) => {
    await using _web = await engine.runContainer({ name: "web" });
    await using _shop = await engine.runContainer({
      labels: {
        "com.docker.compose.project": "shop",
        "com.docker.compose.service": "api",
      },
    });
    await using longshore = await startLongshore({
      engineSocket: engine.socketPath,
      // Where METRICS_TOKEN is set, no other token can read the metrics.
      env: page === "api-tokens" ? {} : { METRICS_TOKEN, TERMINAL: "admin" },
    });
    await until("web is sampled", async () => {
      const { body } = await longshore.call("GET", "/api/containers/web");
      return body.stats ? true : undefined;
    });
    const directory = await Deno.makeTempDir({ prefix: "longshore-test-docs-" });
    try {
      const { code, stdout, stderr } = await new Deno.Command("bash", {
        args: [
          "-euxo",
          "pipefail",
          "-c",
          'longshore() { "${PROGRAM[@]}" "$@"; }\n' +
          `PROGRAM=(${programCommand([]).map((word) => `'${word}'`).join(" ")})\n` +
          shellOf(await Deno.readTextFile(new URL(`${page}.md`, docs))),
        ],
        cwd: directory,
        env: {
          ...runtimeEnvironment(),
          BASE: longshore.baseUrl,
          API_KEY: longshore.apiKey,
          DATA_DIR: longshore.dataDir,
          METRICS_TOKEN,
        },
        stdin: "null",
        signal: AbortSignal.timeout(PAGE_MAX_MS),
      }).output();

      const decoder = new TextDecoder();
      equal(code, 0, decoder.decode(stdout).slice(-500) + decoder.decode(stderr).slice(-2_000));
    } finally {
      // A page may have recreated it under another id.
      await engine.docker("rm", "--force", "web");
      await Deno.remove(directory, { recursive: true });
    }
  });
}

/** All shell blocks of a page, in order. */
function shellOf(markdown: string): string {
  const blocks = [...markdown.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
  return blocks.join("\n");
}
