import { deepEqual, equal } from "node:assert/strict";
import { ALERT_METRIC_IDS } from "../../../services/alerts/metrics/mod.ts";
import {
  firedText,
  missingDataText,
  resolvedText,
  type ValueSubject,
} from "../../../services/alerts/text.ts";

const ruleOf = (metric: string, threshold: number, other: object = {}) => ({
  ...{ metric, threshold, operator: ">", durationSeconds: 0 } as const,
  ...{ path: null, windowSeconds: null, forMissingDataSeconds: 90 },
  ...other,
});
const web = { name: "web" };
const GIB = 2 ** 30;

const FIRED: Record<
  string,
  [threshold: number, value: number, subject: ValueSubject, text: string]
> = {
  cpu_percent: [1, 100, {}, "CPU is at 100 % (limit: above 1 %)"],
  memory_percent: [90, 95.25, {}, "Memory is at 95.25 % (limit: above 90 %)"],
  swap_percent: [50, 60, {}, "Swap is at 60 % (limit: above 50 %)"],
  disk_percent: [90, 91, {}, "Disk usage is at 91 % (limit: above 90 %)"],
  disk_full_in_hours: [1, 12.5, {}, "The disk will be full in 12.5 h (limit: above 1 h)"],
  load_1: [8, 8.5, {}, "Load is at 8.5 (limit: above 8)"],
  pressure_cpu: [20, 21, {}, "CPU pressure is at 21 % (limit: above 20 %)"],
  pressure_memory: [20, 21, {}, "Memory pressure is at 21 % (limit: above 20 %)"],
  pressure_io: [20, 21, {}, "I/O pressure is at 21 % (limit: above 20 %)"],
  network_bytes_per_second: [
    1024,
    1536,
    {},
    "Network traffic is at 1.5 KiB/s (limit: above 1 KiB/s)",
  ],
  temperature_celsius: [85, 90, {}, "Temperature is at 90 °C (limit: above 85 °C)"],
  container_stopped: [
    0,
    2,
    { containers: ["db", "web"] },
    "The number of stopped containers is 2 (limit: above 0): db, web",
  ],
  container_cpu_percent: [90, 1_234, web, "CPU of web is at 1,234 % (limit: above 90 %)"],
  container_memory_percent: [90, 95, web, "Memory of web is at 95 % (limit: above 90 %)"],
  container_memory_bytes: [GIB, 1.5 * GIB, web, "Memory of web is at 1.5 GiB (limit: above 1 GiB)"],
  container_network_bytes_per_second: [
    0,
    5 * 2 ** 20,
    web,
    "Network traffic of web is at 5 MiB/s (limit: above 0 B/s)",
  ],
  container_restarts: [2, 3, web, "The number of restarts of web is 3 (limit: above 2)"],
  container_oom: [0, 1, web, "The number of out-of-memory kills of web is 1 (limit: above 0)"],
  container_log_matches: [
    5,
    6,
    web,
    "The number of matching log lines of web is 6 (limit: above 5)",
  ],
  container_unhealthy: [0, 1, web, "web is unhealthy"],
  container_not_running: [0, 1, web, "web is not running"],
  backup_age_hours: [
    48,
    50.5,
    { name: "shop" },
    "The age of the last backup of shop is 50.5 h (limit: above 48 h)",
  ],
  drill_age_days: [
    90,
    91,
    { name: "shop" },
    "The age of the last drill of shop is 91 days (limit: above 90 days)",
  ],
  service_replicas_missing: [
    0,
    2,
    { about: "shop_web" },
    "The number of missing tasks of shop_web is 2 (limit: above 0)",
  ],
  nodes_down: [0, 1, {}, "The number of nodes that are down is 1 (limit: above 0)"],
  fleet_hosts_away: [
    0,
    2,
    { hosts: ["edge-7", "shop-1"] },
    "The number of hosts that are away is 2 (limit: above 0): edge-7, shop-1",
  ],
  engine_down: [0, 1, {}, "The container engine is down"],
  outbox_age_seconds: [
    3_600,
    3_660,
    {},
    "The oldest message has been waiting for 1 h 1 min (limit: above 1 h)",
  ],
  certificate_days_remaining: [
    1,
    13,
    { about: "a.example" },
    "The certificate of a.example is valid for 13 days (limit: above 1 day)",
  ],
  update_available_days: [
    7,
    8,
    { about: "nginx:1.27" },
    "The oldest update of nginx:1.27 has been available for 8 days (limit: above 7 days)",
  ],
};

Deno.test("every metric has its message here", () => {
  deepEqual(Object.keys(FIRED).sort(), ALERT_METRIC_IDS.toSorted());
});

for (const [metric, [threshold, value, subject, text]] of Object.entries(FIRED)) {
  Deno.test(`an alert says what happened: ${metric}`, () => {
    equal(firedText(ruleOf(metric, threshold), { ...subject, value }), text);
  });
}

Deno.test("an alert says its path, window and duration, and the comparison in words", () => {
  equal(
    firedText(
      ruleOf("disk_percent", 10, { operator: "<=", path: "/data", durationSeconds: 90 }),
      { value: 5 },
    ),
    "Disk usage of /data is at 5 % (limit: at most 10 % for 1 min 30 s)",
  );
  equal(
    firedText(
      ruleOf("container_restarts", 3, { operator: ">=", windowSeconds: 600 }),
      { ...web, value: 3 },
    ),
    "The number of restarts of web is 3 (limit: at least 3 within 10 min)",
  );
  equal(
    firedText(ruleOf("container_unhealthy", 1, { durationSeconds: 300 }), { ...web, value: 1 }),
    "web is unhealthy (for 5 min)",
  );
});

Deno.test("an alert that resolves says the value, or the state", () => {
  equal(
    resolvedText(ruleOf("container_memory_bytes", GIB), { ...web, value: GIB / 2 }),
    "Memory of web is at 512 MiB (no longer above 1 GiB)",
  );
  equal(
    resolvedText(ruleOf("container_unhealthy", 0), { ...web, value: 0 }),
    "web is no longer unhealthy",
  );
  equal(resolvedText(ruleOf("engine_down", 0), { value: 0 }), "The container engine is up");
});

Deno.test("missing data names the container, or that it is of containers", () => {
  const rule = ruleOf("container_cpu_percent", 90);
  equal(
    missingDataText(rule, { name: "web", reason: "not measured" }),
    "CPU of web: no data for 1 min 30 s: not measured",
  );
  equal(
    missingDataText(rule, { name: "", reason: "The engine is unreachable" }),
    "CPU of containers: no data for 1 min 30 s: The engine is unreachable",
  );
});
