/** Alert rules on real containers: logs, restarts, health and memory. @module */

import { deepEqual, equal } from "node:assert/strict";
import { long } from "../helpers/long.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { engineTest, podmanTest, type RealEngine } from "../helpers/real_engine.ts";
import { until } from "../helpers/until.ts";

async function createRule(program: Longshore, container: string, fields: Record<string, unknown>) {
  const created = await program.call("POST", "/api/alerts/rules", {
    operator: ">=",
    durationSeconds: 0,
    scope: { target: { kind: "containers", containers: [container] } },
    name: fields.metric,
    ...fields,
  });
  equal(created.status, 201, JSON.stringify(created.body));
  return created.body.id as string;
}

/** The active alert of a container. */
const alertOf = (program: Longshore, ruleId: string) =>
  until(`an alert of ${ruleId}`, async () => {
    const { body } = await program.call("GET", "/api/alerts/active");
    return body.alerts.find((alert: { ruleId: string }) => alert.ruleId === ruleId);
  });

const resolved = (program: Longshore, eventId: string) =>
  until(`the end of ${eventId}`, async () => {
    const { body } = await program.call("GET", `/api/alerts/events/${eventId}`);
    return body.resolvedAt !== null;
  });

for (
  const { kind, test } of [
    { kind: "Docker", test: engineTest },
    { kind: "Podman", test: long(podmanTest) },
  ] as { kind: string; test: typeof engineTest }[]
) {
  long(test)(
    `rules on the log, the restarts and the state of a container of ${kind}`,
    async (engine: RealEngine) => {
      await using program = await startLongshore({ engineSocket: engine.socketPath });
      await using container = await engine.runContainer({
        command: [
          "sh",
          "-c",
          "echo 'error: before the rule'; " +
          "until [ -e /quiet ]; do echo error: one; echo fine; echo ERROR two; sleep 1; done; " +
          "sleep 1000",
        ],
      });
      const { name } = container;
      const logs = await createRule(program, name, {
        metric: "container_log_matches",
        pattern: "(?i)^error\\b",
        threshold: 2,
        windowSeconds: 10,
        severity: "critical",
      });
      const restarts = await createRule(program, name, {
        metric: "container_restarts",
        threshold: 1,
        windowSeconds: 600,
      });
      const down = await createRule(program, name, {
        metric: "container_not_running",
        operator: "==",
        threshold: 1,
      });
      const alert = await alertOf(program, logs);
      deepEqual([alert.container, alert.severity], [name, "critical"]);
      await engine.docker("exec", name, "touch", "/quiet");

      await engine.docker("stop", "--time", "0", name);
      const stopped = await alertOf(program, down);
      equal(stopped.container, name);
      await engine.docker("start", name);
      await resolved(program, stopped.id);
      equal((await alertOf(program, restarts)).value, 1);
      // The window ended without further lines.
      await resolved(program, alert.id);
    },
  );

  long(test)(
    `a rule counts the first lines of a new container of ${kind}, and none twice`,
    async (engine: RealEngine) => {
      await using program = await startLongshore({ engineSocket: engine.socketPath });
      const ruleFor = (pattern: string, fields: Record<string, unknown>) =>
        createRule(program, "*", {
          metric: "container_log_matches",
          pattern,
          windowSeconds: 600,
          ...fields,
        });
      await using _ = await engine.runContainer({
        command: ["sh", "-c", "while :; do echo ready; sleep 1; done"],
      });
      const rule = await ruleFor("^first", { name: "first", operator: "==", threshold: 1 });
      const next = await ruleFor("^first", { name: "next", operator: "==", threshold: 3 });
      // Logs are followed from now on.
      await alertOf(program, await ruleFor("^ready", { threshold: 1 }));
      await using container = await engine.runContainer({
        command: ["sh", "-c", "echo first; [ -e /twice ] && echo first; touch /twice; sleep 1000"],
      });
      equal((await alertOf(program, rule)).container, container.name);
      await engine.docker("restart", "--time", "0", container.name);
      equal((await alertOf(program, next)).container, container.name);
    },
  );
}
