import { deepEqual, equal, match, ok, rejects } from "node:assert/strict";
import { connectEngine } from "../../engine/client.ts";
import { execInContainer, type ExecLimits } from "../../services/containers/exec/exec.ts";
import type { Config } from "../../services/config/config.ts";
import { AppError } from "../../services/errors.ts";
import { createInventory } from "../../services/containers/inventory.ts";
import { createLimiters } from "../../services/access/limiters.ts";
import { long } from "../helpers/long.ts";
import { engineTest, podmanTest, type RealEngine } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

const ALLOWLIST = ["sh *", "echo *", "cat *", "true", "false", "yes", "nonsense *", "/etc/passwd"];

function execOn({ socketPath }: RealEngine) {
  const engine = connectEngine(socketPath);
  const deps = {
    engine,
    inventory: createInventory(() => new Date()),
    self: { id: null, hostname: null },
    limiters: createLimiters(),
    config: { execAllowlist: ALLOWLIST } as Config,
  };
  return {
    exec: (ref: string, command: string, limits?: ExecLimits) =>
      execInContainer(deps, { role: "admin", userId: "u1" }, ref, command, limits),
    [Symbol.dispose]: () => engine.close(),
  };
}

const code = (wanted: string) => (error: unknown) =>
  error instanceof AppError && error.code === wanted;

for (const [kind, test] of [["Docker", engineTest], ["Podman", long(podmanTest)]] as const) {
  test(`exec on ${kind} gives output and exit code`, async (engine) => {
    using on = execOn(engine);
    await using container = await engine.runContainer();

    deepEqual(await on.exec(container.name, "echo 'a  b' \"c\""), {
      stdout: "a  b c\n",
      stderr: "",
      output: "a  b c\n",
      exitCode: 0,
      truncated: false,
      timedOut: false,
    });
    // The engine reads the two streams side by side, and may send either one first.
    const { output, ...both } = await on.exec(
      container.id,
      "sh -c 'echo 1; echo 2 >&2; echo 3; exit 7'",
    );
    deepEqual(both, {
      stdout: "1\n3\n",
      stderr: "2\n",
      exitCode: 7,
      truncated: false,
      timedOut: false,
    });
    deepEqual(output.split("\n").toSorted(), ["", "1", "2", "3"]);
    equal((await on.exec(container.id.slice(0, 12), "false")).exitCode, 1);
    // No input: a program that reads it sees its end at once.
    deepEqual((await on.exec(container.id, "cat")).exitCode, 0);
  });

  test(`exec on ${kind} of what cannot be run gives the engine's exit code`, async (engine) => {
    using on = execOn(engine);
    await using container = await engine.runContainer();

    const missing = await on.exec(container.id, "nonsense x");
    ok(missing.exitCode === 127 || missing.exitCode === 126);
    match(missing.output, /nonsense/);
    const notExecutable = await on.exec(container.id, "/etc/passwd");
    ok(notExecutable.exitCode === 126 || notExecutable.exitCode === 127);
  });
}

engineTest("exec keeps whole characters and replaces invalid ones", async (engine) => {
  using on = execOn(engine);
  await using container = await engine.runContainer();
  const { stdout } = await on.exec(
    container.id,
    'sh -c \'printf "\\303"; sleep 0.2; printf "\\244 \\377 \\360\\237"\'',
  );
  equal(stdout, "ä \ufffd \ufffd");
});

engineTest("exec returns at most its limit of each stream", async (engine) => {
  using on = execOn(engine);
  await using container = await engine.runContainer();
  const script = "i=0; while [ $i -lt 3000 ]; do echo äääää; i=$((i+1)); done; echo end >&2";
  // Each line has 11 bytes; the bound falls into the middle of a letter.
  const result = await on.exec(container.id, `sh -c '${script}'`, { streamMax: 1101 });
  equal(result.stdout, "äääää\n".repeat(100));
  equal(result.stderr, "end\n");
  equal(result.truncated, true);
  equal(result.exitCode, 0);
});

engineTest("exec returns although the program never stops writing", async (engine) => {
  using on = execOn(engine);
  await using container = await engine.runContainer();
  const result = await on.exec(container.id, "yes");
  equal(result.stdout.length, 1024 * 1024);
  deepEqual([result.truncated, result.exitCode, result.timedOut], [true, null, false]);
});

engineTest("exec returns at its timeout with the output until then", async (engine) => {
  using on = execOn(engine);
  await using container = await engine.runContainer();
  const execFor = (timeoutMs: number) =>
    on.exec(container.id, "sh -c 'echo begun; sleep 6000'", { timeoutMs });
  // A busy engine may take longer to begin.
  let timeoutMs = 1_000;
  let result = await execFor(timeoutMs);
  while (result.stdout === "" && timeoutMs < 100_000) result = await execFor(timeoutMs *= 4);
  deepEqual(result, {
    stdout: "begun\n",
    stderr: "",
    output: "begun\n",
    exitCode: null,
    truncated: false,
    timedOut: true,
  });
});

engineTest("exec refuses commands that are not allowed, missing or malformed", async (engine) => {
  using on = execOn(engine);
  await using container = await engine.runContainer();
  await rejects(on.exec(container.id, "rm -rf /"), code("forbidden"));
  await rejects(on.exec(container.id, "echo a; rm -rf /"), code("forbidden"));
  await rejects(on.exec(container.id, "echo 'a"), code("invalid"));
  await rejects(on.exec(container.id, `echo ${"a".repeat(496)}`), code("invalid"));
  equal((await on.exec(container.id, `echo ${"a".repeat(495)}`)).stdout.length, 496);
  await rejects(on.exec("no-such-container", "echo a"), code("not_found"));
  await rejects(on.exec("no-such-container", "rm"), code("forbidden"));

  await engine.docker("pause", container.id);
  await rejects(on.exec(container.id, "echo a"), code("conflict"));
  await engine.docker("unpause", container.id);
  await engine.docker("stop", "--time=0", container.id);
  await rejects(on.exec(container.id, "echo a"), code("conflict"));
});

engineTest("exec returns if the container ends meanwhile", async (engine) => {
  using on = execOn(engine);
  await using container = await engine.runContainer();
  const pending = on.exec(container.id, "sh -c 'echo begun; sleep 600'");
  await until("it has begun", async () => {
    return (await engine.docker("top", container.id)).includes("sleep 600");
  });
  await engine.docker("kill", container.id);
  const result = await pending;
  equal(result.stdout, "begun\n");
  equal(result.timedOut, false);
});
