import { equal } from "node:assert/strict";
import { startLongshore } from "../helpers/longshore.ts";
import { engineTest } from "../helpers/real_engine.ts";

const docs = new URL("../../docs/", import.meta.url);

/** Longest that the commands of a page may take; a hang must not hang the tests. */
const PAGE_MAX_MS = 120_000;

for (const page of ["api", "community", "pro", "enterprise"]) {
  engineTest(`the commands of docs/${page}.md work as printed`, async (engine) => {
    await using _web = await engine.runContainer({ name: "web" });
    await using _shop = await engine.runContainer({
      labels: {
        "com.docker.compose.project": "shop",
        "com.docker.compose.service": "api",
      },
    });
    await using longshore = await startLongshore({ engineSocket: engine.socketPath });

    const { code, stdout, stderr } = await new Deno.Command("bash", {
      args: [
        "-euxo",
        "pipefail",
        "-c",
        shellOf(await Deno.readTextFile(new URL(`${page}.md`, docs))),
      ],
      env: { BASE: longshore.baseUrl, API_KEY: longshore.apiKey },
      stdin: "null",
      signal: AbortSignal.timeout(PAGE_MAX_MS),
    }).output();

    const decoder = new TextDecoder();
    equal(code, 0, decoder.decode(stdout).slice(-500) + decoder.decode(stderr).slice(-2_000));
  });
}

/** All shell blocks of a page, in order. */
function shellOf(markdown: string): string {
  const blocks = [...markdown.matchAll(/^```sh\n([\s\S]*?)^```$/gm)].map(([, block]) => block!);
  return blocks.join("\n");
}
