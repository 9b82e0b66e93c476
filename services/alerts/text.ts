/** Texts of alerts: metrics, values and conditions in words. @module */

import type { AlertMetric, AlertOperator, AlertRule } from "../../db/alert_rules.ts";
import { duration } from "../events/text.ts";
import { isContainerMetric } from "./container_sources.ts";

/** A metric in sentences such as `CPU of web is at 95 %`. */
interface MetricWords {
  name: string;
  /** Default: `is at`. */
  verb?: string;
  /** `B` and `s` are converted to larger units. */
  unit?: "%" | "B" | "B/s" | "days" | "h" | "s" | "°C";
  /** Of a metric that is 1 or 0: what each of them means. */
  states?: readonly [yes: string, no: string];
}

const METRICS: Readonly<Record<AlertMetric, MetricWords>> = {
  cpu_percent: { name: "CPU", unit: "%" },
  memory_percent: { name: "Memory", unit: "%" },
  swap_percent: { name: "Swap", unit: "%" },
  disk_percent: { name: "Disk usage", unit: "%" },
  disk_full_in_hours: { name: "The disk", verb: "will be full in", unit: "h" },
  load_1: { name: "Load" },
  pressure_cpu: { name: "CPU pressure", unit: "%" },
  pressure_memory: { name: "Memory pressure", unit: "%" },
  pressure_io: { name: "I/O pressure", unit: "%" },
  network_bytes_per_second: { name: "Network traffic", unit: "B/s" },
  temperature_celsius: { name: "Temperature", unit: "°C" },
  container_stopped: { name: "The number of stopped containers", verb: "is" },
  container_cpu_percent: { name: "CPU", unit: "%" },
  container_memory_percent: { name: "Memory", unit: "%" },
  container_memory_bytes: { name: "Memory", unit: "B" },
  container_network_bytes_per_second: { name: "Network traffic", unit: "B/s" },
  container_restarts: { name: "The number of restarts", verb: "is" },
  container_oom: { name: "The number of out-of-memory kills", verb: "is" },
  container_log_matches: { name: "The number of matching log lines", verb: "is" },
  container_unhealthy: { name: "Health", states: ["is unhealthy", "is no longer unhealthy"] },
  container_not_running: { name: "State", states: ["is not running", "is running"] },
  engine_down: { name: "State", states: ["is down", "is up"] },
  outbox_age_seconds: { name: "The oldest message", verb: "has been waiting for", unit: "s" },
  certificate_days_remaining: { name: "The certificate", verb: "is valid for", unit: "days" },
  update_available_days: {
    name: "The oldest update",
    verb: "has been available for",
    unit: "days",
  },
};

const COMPARISONS: Readonly<Record<AlertOperator, string>> = {
  ">": "above",
  ">=": "at least",
  "<": "below",
  "<=": "at most",
  "==": "exactly",
};

/** Names of containers in a message. */
const NAMED_MAX = 10;

type Condition = Pick<
  AlertRule,
  "durationSeconds" | "metric" | "operator" | "path" | "threshold" | "windowSeconds"
>;

/** Subject of a value. */
export interface ValueSubject {
  /** The name of the container; empty for the host. */
  name?: string;
  /** Further subject of the value, e.g. a domain. */
  about?: string | undefined;
  /** Names of the containers counted by the value. */
  containers?: readonly string[] | undefined;
}

type Measured = ValueSubject & { value: number };

/** E.g. `CPU of web is at 95 % (limit: above 90 % for 5 min)`, `web is not running (for 1 min)`. */
export function firedText(rule: Condition, measured: Measured): string {
  const { durationSeconds, metric, operator, threshold, windowSeconds } = rule;
  const seconds = (before: string, count: number | null) =>
    count ? `${before} ${duration(String(count))}` : "";
  const lasted = seconds("for", durationSeconds);
  const state = stateText(metric, measured);
  const text = state === undefined
    ? `${valueSentence(rule, measured)} (limit: ` +
      [
        COMPARISONS[operator],
        valueText(metric, threshold),
        seconds("within", windowSeconds),
        lasted,
      ].filter(Boolean).join(" ") + ")"
    : state + (lasted && ` (${lasted})`);
  return text + nameList(measured.containers);
}

/** E.g. `CPU of web is at 5 % (no longer above 90 %)`, `web is running`. */
export function resolvedText(rule: Condition, measured: Measured): string {
  const { metric, operator, threshold } = rule;
  return stateText(metric, measured) ??
    `${valueSentence(rule, measured)} (no longer ${COMPARISONS[operator]} ` +
      `${valueText(metric, threshold)})`;
}

/** E.g. `CPU of web: no data for 1 min: web was not measured in the last 45 seconds`. */
export function missingDataText(
  rule: Pick<AlertRule, "forMissingDataSeconds" | "metric" | "path">,
  { name, reason }: { name: string; reason: string },
): string {
  const about = isContainerMetric(rule.metric) ? "containers" : undefined;
  const lasted = duration(String(rule.forMissingDataSeconds));
  return `${subjectText(rule, { name, about })}: no data for ${lasted}: ${reason}`;
}

const valueSentence = (rule: Condition, measured: Measured): string =>
  `${subjectText(rule, measured)} ${METRICS[rule.metric].verb ?? "is at"} ` +
  valueText(rule.metric, measured.value);

/** E.g. `CPU of web`, `Disk usage of /data`. */
function subjectText(
  { metric, path }: Pick<AlertRule, "metric" | "path">,
  { name, about = path ?? undefined }: Pick<ValueSubject, "about" | "name">,
): string {
  const what = name || about;
  return METRICS[metric].name + (what === undefined ? "" : ` of ${what}`);
}

function stateText(metric: AlertMetric, { name, value }: Measured): string | undefined {
  const words = METRICS[metric].states?.[value === 1 ? 0 : 1];
  return words && `${name || "The container engine"} ${words}`;
}

function valueText(metric: AlertMetric, value: number): string {
  const { unit } = METRICS[metric];
  switch (unit) {
    case "B":
      return bytes(value);
    case "B/s":
      return `${bytes(value)}/s`;
    case "s":
      return duration(String(value));
    case "days":
      return `${number(value)} ${value === 1 ? "day" : "days"}`;
    default:
      return number(value) + (unit === undefined ? "" : ` ${unit}`);
  }
}

const BYTES = ["B", "KiB", "MiB", "GiB", "TiB"];

function bytes(count: number): string {
  const step = Math.floor(Math.log2(Math.max(count, 1)) / 10);
  const unit = Math.min(step, BYTES.length - 1);
  return `${number(count / 1024 ** unit)} ${BYTES[unit]}`;
}

const number = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: 2 });

/** E.g. `: db, web and 3 more`. */
function nameList(containers: readonly string[] = []): string {
  if (containers.length === 0) return "";
  const more = containers.length - NAMED_MAX;
  return `: ${containers.slice(0, NAMED_MAX).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
