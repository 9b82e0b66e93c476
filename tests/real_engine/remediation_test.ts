/**
 * Remediation by the real program on a real engine: killed containers run again, containers that keep
 * failing are given up, and containers that were stopped on purpose stay stopped, also after a crash.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { mostlyWithin } from "../helpers/in_time.ts";
import { long } from "../helpers/long.ts";
import { type Longshore, startLongshore, wholeRound } from "../helpers/longshore.ts";
import { BUSYBOX, engineTest, type RealEngine } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

const BASE = "/api/ext/service-pro/remediation";

/** Requirement: a killed container under a rule runs again within this, in milliseconds. */
const RUNS_WITHIN_MS = 20_000;

const RUNNER = "remediation runner";

interface Run {
  rule_name: string;
  metric_value: number | null;
  action_type: string;
  action_target: string;
  status: string;
  error: string | null;
}

/** Starts the program with a trial of the Enterprise edition; its data outlives it. */
async function withPro(
  real: RealEngine,
  run: (start: () => Promise<Longshore>) => Promise<void>,
): Promise<void> {
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-test-remediation-" });
  try {
    await run(async () => {
      const program = await startLongshore({ dataDir, engineSocket: real.socketPath });
      // 409 from the second start on: the trial is stored.
      await program.call("POST", "/api/edition/trial", {});
      return program;
    });
  } finally {
    await Deno.remove(dataDir, { recursive: true });
  }
}

async function addRule(program: Longshore, target: string, fields: object = {}): Promise<string> {
  const { status, body } = await program.call("POST", `${BASE}/rules`, {
    name: `Keep ${target} running`,
    condition_metric: "container_down",
    condition_operator: "==",
    condition_threshold: 1,
    action_type: "start",
    action_target: target,
    ...fields,
  });
  equal(status, 201, JSON.stringify(body));
  return body.id;
}

const historyOf = async (program: Longshore): Promise<Run[]> =>
  (await program.call("GET", `${BASE}/history`)).body.history;

/** Whether no container is recorded as stopped by the service. */
function isNoted(dataDir: string): boolean {
  const db = new DatabaseSync(`${dataDir}/state.sqlite`, { readOnly: true });
  try {
    return db.prepare("SELECT 1 FROM service_stops").get() === undefined;
  } finally {
    db.close();
  }
}

const isRunning = async (real: RealEngine, id: string) =>
  await real.docker("inspect", "--format={{.State.Running}}", id) === "true";

long(engineTest)(
  "a killed container under a rule runs again within 20 s, and its history says why",
  async (real) => {
    await using container = await real.runContainer();
    await withPro(real, async (start) => {
      await using program = await start();
      await addRule(program, container.name, { cooldown_seconds: 0 });
      await mostlyWithin(RUNS_WITHIN_MS, "a killed container", async () => {
        const { length } = await historyOf(program);
        await real.docker("kill", container.id);
        const begun = performance.now();
        const [run] = await until("it is recorded", async () => {
          const history = await historyOf(program);
          return history.length > length && history;
        });
        const ms = performance.now() - begun;
        ok(await isRunning(real, container.id), "it runs");
        const { rule_name, metric_value, action_type, action_target, status, error } = run!;
        deepEqual({ rule_name, metric_value, action_type, action_target, status, error }, {
          rule_name: `Keep ${container.name} running`,
          metric_value: 1,
          action_type: "start",
          action_target: container.name,
          status: "success",
          error: null,
        });
        return ms;
      }, { tries: 3 });
    });
  },
);

long(engineTest)(
  "a container that keeps failing is started five times, then its rule is disabled",
  async (real) => {
    const name = `longshore-test-${crypto.randomUUID().slice(0, 8)}`;
    const id = await real.docker(
      "run",
      "--detach",
      `--name=${name}`,
      BUSYBOX,
      "sh",
      "-c",
      "exit 3",
    );
    try {
      await withPro(real, async (start) => {
        await using program = await start();
        const ruleId = await addRule(program, name, {
          action_type: "restart",
          cooldown_seconds: 0,
        });
        const isOn = async () =>
          (await program.call("GET", `${BASE}/rules`)).body.rules
            .find((rule: { id: string }) => rule.id === ruleId).enabled;
        await until("the rule turns itself off", async () => !await isOn(), {
          deadlineMs: 180_000,
        });
        await wholeRound(program, RUNNER);
        const [last, ...others] = await historyOf(program);
        deepEqual([last?.status, last?.error], [
          "skipped",
          "The rule fired 5 times within an hour and was disabled",
        ]);
        deepEqual(others.map(({ status }) => status), Array(5).fill("success"));
        equal(await isOn(), false);
      });
    } finally {
      await real.docker("rm", "--force", id);
    }
  },
);

long(engineTest)(
  "containers that the service stopped stay stopped; those that end while it is down are started",
  async (real) => {
    await using container = await real.runContainer();
    await withPro(real, async (start) => {
      {
        await using program = await start();
        await addRule(program, container.name, { cooldown_seconds: 0 });
        const stopped = await program.call("POST", `/api/containers/${container.id}/stop`);
        equal(stopped.body.state, "exited");
        await wholeRound(program, RUNNER);
        await program.kill9();
      }
      {
        await using program = await start();
        await wholeRound(program, RUNNER);
        deepEqual(await historyOf(program), []);
        equal(await isRunning(real, container.id), false);
        const started = await program.call("POST", `/api/containers/${container.id}/start`);
        equal(started.body.state, "running");
        // The engine reports the start a moment after its response.
        await until("the start is noted", () => isNoted(program.dataDir));
        await program.kill9();
      }
      await real.docker("kill", container.id);
      await using program = await start();
      await until("it is started", async () => (await historyOf(program)).length === 1);
      ok(await isRunning(real, container.id), "it runs");
    });
  },
);

long(engineTest)(
  "an action that a crash interrupts is recorded as a failure and not repeated",
  async (real) => {
    // It does not stop by itself: the action ends long after the crash.
    await using container = await real.runContainer({ command: ["sleep", "2147483647"] });
    await withPro(real, async (start) => {
      {
        await using program = await start();
        await addRule(program, container.name, {
          condition_metric: "container_stopped",
          condition_operator: ">=",
          condition_threshold: 0,
          action_type: "restart",
          action_config: { timeout_seconds: 120 },
        });
        await until("the rule fires", async () => {
          const [rule] = (await program.call("GET", `${BASE}/rules`)).body.rules;
          return rule.trigger_count === 1;
        });
        deepEqual(await historyOf(program), []);
        await program.kill9();
      }
      await using program = await start();
      const [run] = await until("it is recorded", async () => {
        const history = await historyOf(program);
        return history.length > 0 && history;
      });
      deepEqual([run?.status, run?.error], [
        "failure",
        "The service stopped before the action finished",
      ]);
      await wholeRound(program, RUNNER);
      equal((await historyOf(program)).length, 1);
    });
  },
);

long(engineTest)("a busy container is restarted by its own figures", async (real) => {
  await using container = await real.runContainer({
    command: ["sh", "-c", "trap 'exit 0' TERM; while :; do :; done"],
    options: ["--cpus=0.2"],
  });
  await withPro(real, async (start) => {
    await using program = await start();
    await addRule(program, container.name, {
      condition_metric: "container_cpu_percent",
      condition_operator: ">",
      condition_threshold: 5,
      action_type: "restart",
    });
    const before = await real.docker("inspect", "--format={{.State.StartedAt}}", container.id);
    const [run] = await until("it is restarted", async () => {
      const history = await historyOf(program);
      return history.length > 0 && history;
    }, { deadlineMs: 180_000 });
    equal(run?.status, "success");
    ok(run.metric_value! > 5 && run.metric_value! < 100, `${run?.metric_value} %`);
    const after = await real.docker("inspect", "--format={{.State.StartedAt}}", container.id);
    ok(after > before, "it was started again");
  });
});
