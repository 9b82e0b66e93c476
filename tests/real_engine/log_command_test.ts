import { equal, match } from "node:assert/strict";
import { runCommand, temporaryDirectory } from "../helpers/command.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { programCommand, runtimeEnvironment } from "../helpers/program.ts";
import { engineTest } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";
import { freePort } from "../helpers/free_port.ts";

engineTest(
  "longshore logs shows, follows and continues after a crash of the service",
  async (engine) => {
    using directory = temporaryDirectory();
    const dataDir = directory.path;
    const port = freePort();
    const start = () =>
      startLongshore({
        dataDir,
        engineSocket: engine.socketPath,
        env: { API_KEY: "key-of-the-log-command-test", PORT: String(port) },
      });
    await using container = await engine.runContainer({
      labels: { "com.docker.compose.project": "shop", "com.docker.compose.service": "web" },
      command: [
        "sh",
        "-c",
        "echo one; echo two; i=0; while :; do i=$((i+1)); echo n $i; sleep 0.1; done",
      ],
    });
    const service = await start();
    const env = { DATA_DIR: dataDir, API_KEY: service.apiKey };

    const shown = await runCommand(["logs", "-n", "1000", container.name], { env });
    equal(shown.code, 0, shown.stderr);
    match(shown.stdout, /^one\ntwo\nn 1\n/);
    const stack = await runCommand(["logs", "-n", "1000", "--stack", "shop"], { env });
    equal(stack.code, 0, stack.stderr);
    match(stack.stdout, new RegExp(`^${container.name} \\| one\n${container.name} \\| two\n`));
    const unknown = await runCommand(["logs", "-f", "no-such-container"], { env });
    equal(unknown.code, 1);
    match(unknown.stderr, /no-such-container/);
    const url = `http://127.0.0.1:${port}`;
    const anonymous = await runCommand(["logs", "x"], { env: { LONGSHORE_URL: url } });
    match(anonymous.stderr, /LONGSHORE_TOKEN is not set/);
    equal((await runCommand(["logs"], { env })).code, 2);

    const [path, ...args] = programCommand(["logs", "-f", "-n", "1000", container.name]);
    const child = new Deno.Command(path, {
      args,
      clearEnv: true,
      env: { ...runtimeEnvironment(), API_KEY: service.apiKey, LONGSHORE_URL: url },
      stdin: "null",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    let text = "";
    const reading = child.stdout.pipeThrough(new TextDecoderStream()).pipeTo(
      new WritableStream({ write: (part) => void (text += part) }),
    );
    await until("lines are printed", () => text.includes("\nn 5\n"));
    await service.kill9();
    const printed = text.split("\n").length;
    await using _again = await start();
    await until("lines are printed again", () => text.split("\n").length > printed + 5);
    child.kill("SIGINT");
    equal((await child.status).code, 0);
    await reading;
    // Every line once, and in order.
    const lines = text.trimEnd().split("\n");
    lines.forEach((line, index) => {
      equal(line, index === 0 ? "one" : index === 1 ? "two" : `n ${index - 1}`);
    });
  },
);
