import { deepEqual, equal } from "node:assert/strict";
import { ALERT_METRICS } from "../../services/alerts/rules.ts";
import { completeSettings } from "../../services/alerts/settings.ts";
import { conditionOf, METRICS, valueOf } from "../../ui/pages/alerts/words.ts";

for (const metric of ALERT_METRICS) {
  Deno.test(`the form of a rule has the fields of ${metric}`, () => {
    const { ofContainers, hasPath, hasPattern, hasWindow, operator = ">", threshold } =
      METRICS[metric];
    const rule = completeSettings({
      name: "Rule",
      metric,
      operator,
      threshold,
      durationSeconds: 0,
      autoIncident: false,
      ...(hasPath && { path: "/srv" }),
      ...(hasPattern && { pattern: "error" }),
    });
    deepEqual(
      {
        target: rule.scope.target.kind,
        path: rule.path,
        pattern: rule.pattern,
        hasWindow: rule.windowSeconds !== null,
      },
      {
        target: ofContainers ? "containers" : "host",
        path: hasPath ? "/srv" : null,
        pattern: hasPattern ? "error" : null,
        hasWindow: hasWindow === true,
      },
    );
  });
}

Deno.test("a condition says what it watches, in units for people", () => {
  equal(
    conditionOf({
      name: "Memory",
      metric: "container_memory_bytes",
      operator: ">",
      threshold: 2 ** 30,
      durationSeconds: 60,
      autoIncident: false,
      scope: { target: { kind: "containers", containers: ["web*"], labels: { tier: "db" } } },
    }),
    "Memory of a container > 1 GiB for 1 min: web* with tier=db",
  );
  equal(
    conditionOf({
      name: "Errors",
      metric: "container_log_matches",
      operator: ">=",
      threshold: 3,
      durationSeconds: 0,
      autoIncident: false,
      pattern: "error",
      windowSeconds: 600,
    }),
    "Matching log lines /error/ ≥ 3 within 10 min",
  );
  equal(valueOf("container_unhealthy", 1), "yes");
  equal(valueOf("container_network_bytes_per_second", 2048), "2 KiB/s");
});
