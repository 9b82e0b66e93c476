/** /api/alerts/rules, and the metrics and templates for them. @module */

import * as z from "zod";
import { type Metric, METRIC_GROUPS, UNITS } from "../../services/alerts/metrics/kind.ts";
import { ALERT_METRICS } from "../../services/alerts/metrics/mod.ts";
import { previewAlertRule } from "../../services/alerts/preview.ts";
import {
  ALERT_STATES,
  type AlertRuleView,
  changeAlertRule,
  createAlertRule,
  getAlertRule,
  listAlertRules,
  removeAlertRule,
} from "../../services/alerts/rules.ts";
import { assertAlertPattern } from "../../services/alerts/settings.ts";
import { ALERT_TEMPLATES } from "../../services/alerts/recommended.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, EnabledBody, Name, Patterns, Target, Timestamp } from "../contract/shapes.ts";
import { InhibitedBy, MetricId, Operator, Severity, ValueText } from "./shapes.ts";

const WatchedTarget = z.discriminatedUnion("kind", [
  ...Target.options,
  z.strictObject({
    kind: z.literal("stacks"),
    stacks: Patterns.optional().meta({
      description: "Names, in which `*` stands for any text; default: all",
      example: ["shop*"],
    }),
  }),
]).meta({ id: "AlertTarget", description: "The host, containers, or stacks as a whole" });

const Scope = z.strictObject({ target: WatchedTarget }).meta({
  id: "AlertScope",
  description:
    "What the rule watches. Everything that is given has to match; a rule that watches " +
    "containers or stacks fires for each of them",
  example: { target: { kind: "containers", containers: ["web*"], stacks: ["shop"] } },
});

const settings = {
  name: Name,
  metric: MetricId,
  operator: Operator,
  threshold: z.number().min(-1e12).max(1e12),
  durationSeconds: z.int().min(0).max(86_400).meta({
    description: "How long the condition must hold without interruption",
  }),
};

/** Optional settings of a rule. */
const options = {
  severity: Severity.meta({ description: "Default: warning" }),
  scope: Scope.meta({ description: "Default: the host, or all containers, as the metric needs" }),
  pattern: z.string().min(1).max(200).nullable().meta({
    description: "RE2 pattern of log lines; for metrics with hasPattern, which need it",
    example: "(?i)out of memory",
  }),
  path: z.string().max(4096).regex(/^\//, { error: "must be an absolute path" }).nullable()
    .meta({
      description: "A path in the filesystem to measure, as the service sees it; for metrics " +
        "with hasPath. Default: the root",
      example: "/srv",
    }),
  windowSeconds: z.int().min(10).max(86_400).nullable().meta({
    description: "The last seconds in which occurrences are counted; for metrics whose " +
      "windowSeconds is not null. Default: that one",
  }),
  forMissingDataSeconds: z.int().min(10).max(86_400).nullable().meta({
    description: "After so many seconds without data the state is no_data, with one event " +
      "alert.no_data. Default null: the rule waits for data silently",
  }),
};

const AutoIncident = z.boolean().meta({
  description: "Whether the rule opens an incident when it fires (Pro)",
});

const example = {
  name: "High CPU",
  metric: "cpu_percent",
  operator: ">",
  threshold: 90,
  durationSeconds: 60,
};

const newSettings = { ...settings, ...z.object(options).partial().shape };

const NewRule = z.object({ ...newSettings, autoIncident: AutoIncident.default(false) })
  .meta({ id: "NewAlertRule", example });

const Condition = z.string().meta({
  description: "In words, without the scope",
  example: "CPU > 90 % for 1 min",
});

const Template = z.object({
  id: z.string().meta({ example: "disk-almost-full" }),
  description: z.string().meta({ example: "The host has little disk space left." }),
  condition: Condition,
  rule: z.object({ ...newSettings, autoIncident: AutoIncident }).meta({ id: "AlertTemplateRule" }),
}).meta({ id: "AlertTemplate" });

const RuleChanges = z.object({
  ...settings,
  ...options,
  duration_seconds: settings.durationSeconds.meta({ description: "Same as durationSeconds" }),
  autoIncident: AutoIncident,
  enabled: z.boolean(),
})
  .partial()
  .meta({ id: "AlertRuleChanges", example: { threshold: 95, durationSeconds: 120 } });

const Rule = z.object({
  ...settings,
  ...options,
  id: z.string(),
  name: z.string(),
  autoIncident: AutoIncident,
  enabled: z.boolean(),
  createdAt: Timestamp,
  duration_seconds: z.int().meta({ description: "Same as durationSeconds" }),
  created_at: Timestamp.meta({ description: "Same as createdAt" }),
  condition: Condition,
  lastFiredAt: Timestamp.nullable(),
  state: z.enum(ALERT_STATES).meta({
    description: "Of several containers, the worst. pending: the condition holds, but not for " +
      "long enough, within the cooldown or during maintenance; no_data: see " +
      "forMissingDataSeconds and problem",
  }),
  problem: z.string().nullable().meta({
    description: "Why the rule has no data at the moment",
    example: "The host shows no temperature sensor",
  }),
  inhibitedBy: InhibitedBy,
}).meta({ id: "AlertRule" });

const MetricDescription = z.object({
  id: z.string().meta({ example: "container_restarts" }),
  group: z.enum(METRIC_GROUPS).meta({ example: "Containers" }),
  words: z.string().meta({ description: "Its name within the group", example: "restarts" }),
  title: z.string().meta({ description: "In conditions", example: "Restarts of a container" }),
  description: z.string().meta({ example: "Within windowSeconds" }),
  unit: z.enum(UNITS).nullable(),
  target: z.enum(["host", "containers", "stacks"]).meta({
    description: "The kind of target that the scope of its rules has",
  }),
  isState: z.boolean().meta({ description: "Whether the value is 1 or 0" }),
  hasPath: z.boolean().meta({ description: "Whether its rules may have a path" }),
  hasPattern: z.boolean().meta({ description: "Whether its rules need a pattern" }),
  operator: Operator.meta({ description: "Proposed for a new rule, as is the threshold" }),
  threshold: z.number(),
  windowSeconds: z.int().nullable().meta({
    description: "Length of the window in which its rules count, by default; null for others",
  }),
}).meta({ id: "AlertMetricDescription" });

/** Adds the snake_case names that some clients read. */
const withSnakeCase = (rule: AlertRuleView) => ({
  ...rule,
  duration_seconds: rule.durationSeconds,
  created_at: rule.createdAt,
});

const toDescription = (metric: Metric) => ({
  ...metric,
  unit: metric.unit ?? null,
  isState: metric.states !== undefined,
  hasPath: metric.hasPath ?? false,
  hasPattern: metric.hasPattern ?? false,
  windowSeconds: metric.windowSeconds ?? null,
});

const UNKNOWN = { 404: "The rule does not exist" };

export const alertRuleEndpoints = (deps: Deps) => [
  endpoint("GET /api/alerts/rules", {
    operationId: "listAlertRules",
    summary: "List alert rules",
    description: "Sorted by name.",
    role: "viewer",
    permission: "alerts:read",
    returns: z.object({ rules: z.array(Rule) }).meta({ id: "AlertRuleList" }),
  }, () => ({ rules: listAlertRules(deps).map(withSnakeCase) })),

  endpoint("POST /api/alerts/rules", {
    operationId: "createAlertRule",
    summary: "Create an alert rule",
    description:
      "The rule fires when its condition has held for the whole duration, and resolves when " +
      "the condition no longer holds. After firing, it does not fire again for 15 minutes. " +
      "While the metric is unknown (the engine is unreachable), nothing fires and nothing " +
      "resolves. A rule that watches containers does all of this for each of them.",
    role: "admin",
    permission: "alerts:write",
    body: NewRule,
    returns: Rule,
    status: 201,
    failures: { 402: "The edition allows no more rules" },
  }, async ({ body, caller }) => {
    await assertAlertPattern(caller, body);
    return withSnakeCase(createAlertRule(deps, body));
  }),

  endpoint("POST /api/alerts/rules/test", {
    operationId: "testAlertRule",
    summary: "Test an alert rule",
    description: "Evaluates a rule without storing it, on the present values and on the samples " +
      "of the last 24 hours.",
    role: "admin",
    permission: "alerts:write",
    unaudited: true,
    body: NewRule,
    returns: z.object({
      wouldFire: z.boolean().meta({
        description: "Whether the condition holds and, where samples are stored, has held for " +
          "its duration",
      }),
      value: z.number().nullable().meta({
        description: "Of several containers, the one furthest beyond the threshold; null while " +
          "unknown",
      }),
      valueText: ValueText.nullable(),
      since: Timestamp.nullable().meta({
        description: "Since when the condition holds if only its duration is missing",
      }),
      firesAt: Timestamp.nullable().meta({
        description: "When it would fire if the condition keeps holding; null without since",
      }),
      firings24h: z.int().nullable().meta({
        description: "How often it would have fired; null for metrics without stored samples",
      }),
      containers: z.array(z.string()).meta({
        description: "Names of the containers for which it would fire now",
      }),
      problem: z.string().nullable().meta({ description: "Why the value is unknown" }),
    }).meta({ id: "AlertRuleTest" }),
  }, async ({ body, caller }) => {
    await assertAlertPattern(caller, body);
    return previewAlertRule(deps, body);
  }),

  endpoint("GET /api/alerts/rules/:id", {
    operationId: "getAlertRule",
    summary: "Get an alert rule",
    role: "viewer",
    permission: "alerts:read",
    returns: Rule,
    failures: UNKNOWN,
  }, ({ params }) => withSnakeCase(getAlertRule(deps, params.id))),

  endpoint("PUT /api/alerts/rules/:id", {
    operationId: "updateAlertRule",
    summary: "Update an alert rule",
    description: "Omitted fields keep their values. Changing the condition or disabling the rule " +
      "resets it and resolves its firing alert.",
    role: "admin",
    permission: "alerts:write",
    body: RuleChanges,
    returns: Rule,
    failures: UNKNOWN,
  }, async ({ params, body: { duration_seconds: durationSeconds, ...change }, caller }) => {
    const { metric = getAlertRule(deps, params.id).metric, pattern } = change;
    await assertAlertPattern(caller, { metric, pattern });
    return withSnakeCase(changeAlertRule(deps, params.id, { durationSeconds, ...change }));
  }),

  endpoint("DELETE /api/alerts/rules/:id", {
    operationId: "deleteAlertRule",
    summary: "Delete an alert rule",
    description: "Past events are kept; a firing alert is resolved.",
    role: "admin",
    permission: "alerts:write",
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => removeAlertRule(deps, params.id)),

  endpoint("PUT /api/alerts/rules/:id/toggle", {
    operationId: "toggleAlertRule",
    summary: "Enable or disable an alert rule",
    description: "Disabling a rule resolves its firing alert.",
    role: "admin",
    permission: "alerts:write",
    body: EnabledBody.meta({ example: { enabled: false } }),
    returns: Rule,
    failures: UNKNOWN,
  }, ({ params, body }) => withSnakeCase(changeAlertRule(deps, params.id, body))),

  endpoint("GET /api/alerts/metrics", {
    operationId: "listAlertMetrics",
    summary: "List alert metrics",
    description: "Everything that an alert rule can watch, by group. Also what this host cannot " +
      "measure, which is in the `problem` of a rule.",
    role: "viewer",
    permission: "alerts:read",
    etag: true,
    returns: z.object({ metrics: z.array(MetricDescription) }).meta({ id: "AlertMetricList" }),
  }, () => ({ metrics: ALERT_METRICS.map(toDescription) })),

  endpoint("GET /api/alerts/templates", {
    operationId: "listAlertTemplates",
    summary: "List alert rule templates",
    description:
      "Rules to begin with, the most important first. Each `rule` can be created as it " +
      "is.",
    role: "viewer",
    permission: "alerts:read",
    returns: z.object({
      templates: z.array(Template),
    }).meta({ id: "AlertTemplateList" }),
  }, () => ({ templates: [...ALERT_TEMPLATES] })),
];
