/** Texts of alerts: values and conditions in words. @module */

import type { AlertOperator, AlertRule } from "../../db/alert_rules.ts";
import { duration, joined } from "../events/text.ts";
import { byteText, numberText } from "../text/bytes.ts";
import type { Metric } from "./metrics/kind.ts";
import { alertMetric } from "./metrics/mod.ts";

const COMPARISONS: Readonly<Record<AlertOperator, string>> = {
  ">": "above",
  ">=": "at least",
  "<": "below",
  "<=": "at most",
  "==": "exactly",
};

const SIGNS: Readonly<Record<AlertOperator, string>> = {
  ">": ">",
  ">=": "≥",
  "<": "<",
  "<=": "≤",
  "==": "=",
};

/** Names of containers or hosts in a message. */
const NAMED_MAX = 10;

type Condition = Pick<
  AlertRule,
  "durationSeconds" | "metric" | "operator" | "path" | "threshold" | "windowSeconds"
>;

/** E.g. `CPU > 90 % for 1 min`, `Restarts of a container ≥ 3 within 10 min`. */
export function conditionText(
  { metric, path, pattern, ...comparison }: Condition & Pick<AlertRule, "pattern">,
): string {
  const { title, ...words } = alertMetric(metric);
  const subject = title + joined(" of ", path ?? "") + joined(" /", pattern ?? "", "/");
  return comparisonText({ ...words, title: subject }, comparison);
}

/** E.g. `CPU > 90 % for 1 min`. */
export function comparisonText(
  metric: Pick<Metric, "states" | "title" | "unit">,
  { operator, threshold, durationSeconds, windowSeconds }: Omit<Condition, "metric" | "path">,
): string {
  const isPlain = metric.states && operator === "==" && threshold === 1;
  return [
    metric.title,
    isPlain ? "" : `${SIGNS[operator]} ${valueText(metric, threshold)}`,
    lasting("for", durationSeconds),
    lasting("within", windowSeconds),
  ].filter(Boolean).join(" ");
}

/** E.g. `97.2 %`, `yes` for a metric that is 1 or 0. */
export const measuredText = (metric: Metric, value: number): string =>
  metric.states ? value === 1 ? "yes" : "no" : valueText(metric, value);

/** Subject of a value. */
export interface ValueSubject {
  /** The name of the container; empty for the host. */
  name?: string;
  /** Further subject of the value, e.g. a domain. */
  about?: string | undefined;
  /** Names of the containers counted by the value. */
  containers?: readonly string[] | undefined;
  /** Names of the hosts of the fleet counted by the value. */
  hosts?: readonly string[] | undefined;
  /** Remark about the value. */
  note?: string | undefined;
}

type Measured = ValueSubject & { value: number };

/** E.g. `CPU of web is at 95 % (limit: above 90 % for 5 min)`, `web is not running (for 1 min)`. */
export function firedText(rule: Condition, measured: Measured): string {
  const { durationSeconds, operator, threshold, windowSeconds } = rule;
  const metric = alertMetric(rule.metric);
  const lasted = lasting("for", durationSeconds);
  const state = stateText(metric, measured);
  const text = state === undefined
    ? `${valueSentence(rule, measured)} (limit: ` +
      [
        COMPARISONS[operator],
        valueText(metric, threshold),
        lasting("within", windowSeconds),
        lasted,
      ].filter(Boolean).join(" ") + ")"
    : state + (lasted && ` (${lasted})`);
  return text + nameList(measured.containers ?? measured.hosts) +
    (measured.note ? `; ${measured.note}` : "");
}

/** E.g. `CPU of web is at 5 % (no longer above 90 %)`, `web is running`. */
export function resolvedText(rule: Condition, measured: Measured): string {
  const { operator, threshold } = rule;
  const metric = alertMetric(rule.metric);
  return stateText(metric, measured) ??
    `${valueSentence(rule, measured)} (no longer ${COMPARISONS[operator]} ` +
      `${valueText(metric, threshold)})`;
}

/** E.g. `CPU of web: no data for 1 min: web was not measured in the last 45 seconds`. */
export function missingDataText(
  rule: Pick<AlertRule, "forMissingDataSeconds" | "metric" | "path">,
  { name, reason }: { name: string; reason: string },
): string {
  const { target } = alertMetric(rule.metric);
  const about = target === "host" ? undefined : target;
  const lasted = duration(String(rule.forMissingDataSeconds));
  return `${subjectText(rule, { name, about })}: no data for ${lasted}: ${reason}`;
}

function valueSentence(rule: Condition, measured: Measured): string {
  const metric = alertMetric(rule.metric);
  return `${subjectText(rule, measured)} ${metric.verb} ${valueText(metric, measured.value)}`;
}

const lasting = (preposition: string, seconds: number | null): string =>
  seconds ? `${preposition} ${duration(String(seconds))}` : "";

/** E.g. `CPU of web`, `Disk usage of /data`. */
function subjectText(
  { metric, path }: Pick<AlertRule, "metric" | "path">,
  { name, about = path ?? undefined }: Pick<ValueSubject, "about" | "name">,
): string {
  const what = name || about;
  return alertMetric(metric).name + (what === undefined ? "" : ` of ${what}`);
}

function stateText({ states }: Metric, { name, value }: Measured): string | undefined {
  const words = states?.[value === 1 ? 0 : 1];
  return words && `${name || "The container engine"} ${words}`;
}

function valueText({ unit }: Pick<Metric, "unit">, value: number): string {
  switch (unit) {
    case "B":
      return byteText(value);
    case "B/s":
      return `${byteText(value)}/s`;
    case "s":
      return duration(String(value));
    case "days":
      return `${numberText(value)} ${value === 1 ? "day" : "days"}`;
    default:
      return numberText(value) + (unit === undefined ? "" : ` ${unit}`);
  }
}

/** E.g. `: db, web and 3 more`. */
function nameList(names: readonly string[] = []): string {
  if (names.length === 0) return "";
  const more = names.length - NAMED_MAX;
  return `: ${names.slice(0, NAMED_MAX).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
