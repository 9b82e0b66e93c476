import { deepEqual, equal, match } from "node:assert/strict";
import {
  ALERT_METRIC_IDS,
  ALERT_METRICS,
  alertMetric,
} from "../../../services/alerts/metrics/mod.ts";
import { completeSettings, type NewAlertRule } from "../../../services/alerts/settings.ts";
import { conditionText, measuredText } from "../../../services/alerts/text.ts";
import { filesWith } from "../../helpers/files_with.ts";

for (const { id, target, hasPath, hasPattern, ...metric } of ALERT_METRICS) {
  Deno.test(`a rule on ${id} has the fields that the metric says`, () => {
    const rule = completeSettings({
      name: "Rule",
      metric: id,
      operator: metric.operator,
      threshold: metric.threshold,
      durationSeconds: 0,
      autoIncident: false,
      ...(hasPath && { path: "/srv" }),
      ...(hasPattern && { pattern: "error" }),
    });
    deepEqual([rule.scope.target.kind, rule.path, rule.pattern, rule.windowSeconds], [
      target,
      hasPath ? "/srv" : null,
      hasPattern ? "error" : null,
      metric.windowSeconds ?? null,
    ]);
    match(metric.description, /^[A-Z0-9][^\n]+[^.]$/);
  });
}

Deno.test("every metric has its own id and its own words within its group, which follow each other", () => {
  const names = ALERT_METRICS.map(({ group, words }) => `${group}: ${words}`);
  equal(new Set(names).size, names.length);
  equal(new Set(ALERT_METRIC_IDS).size, names.length);
  const groups = ALERT_METRICS.map(({ group }) => group)
    .filter((group, at, all) => group !== all[at - 1]);
  equal(new Set(groups).size, groups.length);
});

Deno.test("no other file lists the metrics, so that a new one is added in one place", async () => {
  deepEqual(
    await filesWith(
      ALERT_METRIC_IDS,
      "services/alerts/metrics",
      // Metrics of the target, which have the words of these.
      "services/pro/remediation/metrics.ts",
    ),
    [],
  );
});

Deno.test("a condition is said in units for people", () => {
  const rule = (fields: Partial<NewAlertRule> & Pick<NewAlertRule, "metric">) =>
    conditionText(completeSettings({
      ...{ name: "Rule", operator: ">", threshold: 1, durationSeconds: 0, autoIncident: false },
      ...fields,
    }));
  equal(
    rule({ metric: "container_memory_bytes", threshold: 2 ** 30, durationSeconds: 90 }),
    "Memory of a container > 1 GiB for 1 min 30 s",
  );
  equal(
    rule({
      metric: "container_log_matches",
      operator: ">=",
      threshold: 3,
      pattern: "error",
      windowSeconds: 600,
    }),
    "Matching log lines /error/ ≥ 3 within 10 min",
  );
  equal(rule({ metric: "disk_percent", path: "/srv" }), "Disk usage of /srv > 1 %");
  equal(rule({ metric: "container_unhealthy", operator: "==" }), "Container is unhealthy");
  equal(measuredText(alertMetric("container_unhealthy"), 1), "yes");
  equal(measuredText(alertMetric("container_network_bytes_per_second"), 2048), "2 KiB/s");
});
