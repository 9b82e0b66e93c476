import { equal, match } from "node:assert/strict";
import { liveApp } from "../helpers/live_app.ts";
import { engineTest } from "../helpers/real_engine.ts";
import { serveTerminals } from "../helpers/terminal_client.ts";
import { TEST_API_KEY } from "../helpers/test_app.ts";

engineTest("the example client types into a shell and ends with its exit code", async (engine) => {
  await using app = await liveApp(engine.socketPath, { config: { terminal: "admin" } });
  await using server = serveTerminals(app);
  await using container = await engine.runContainer();
  const body = { apiKey: TEST_API_KEY };
  const login = await app.call("POST", "/auth/token", body, { role: "public" });

  const child = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-config",
      "--allow-net",
      "--allow-env",
      "terminal.mjs",
      `http://127.0.0.1:${server.port}`,
      container.name,
    ],
    cwd: new URL("../../examples/terminal/", import.meta.url),
    env: { TOKEN: login.body.accessToken, NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode("echo $((6 * 7))\nexit 5\n"));
  const { code, stdout, stderr } = await child.output();
  await writer.close().catch(() => {});
  match(new TextDecoder().decode(stdout), /\n42\r\n/);
  equal(new TextDecoder().decode(stderr), "");
  equal(code, 5);
});
