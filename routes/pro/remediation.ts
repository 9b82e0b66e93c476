/** /remediation: rules that act on containers, and their runs. @module */

import * as z from "zod";
import { UNITS } from "../../services/alerts/metrics/kind.ts";
import { ALERT_OPERATORS } from "../../services/alerts/rules.ts";
import type { Deps } from "../../services/deps.ts";
import {
  changeRemediationRule,
  createRemediationRule,
  listRemediationRules,
  REMEDIATION_ACTIONS,
  removeRemediationRule,
} from "../../services/pro/remediation/rules.ts";
import { REMEDIATION_METRICS } from "../../services/pro/remediation/metrics.ts";
import { listRemediationRuns, REMEDIATION_STATUSES } from "../../services/pro/remediation/runs.ts";
import { ContainerRef } from "../containers/shapes.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, EnabledBody, Name, paged, pagingQuery, Timestamp } from "../contract/shapes.ts";

const Action = z.enum(REMEDIATION_ACTIONS);

const ActionConfig = z.strictObject({
  timeout_seconds: z.int().min(0).max(300).optional().meta({
    description: "stop and restart: seconds until the container is killed; default 10",
  }),
}).meta({ id: "RemediationActionConfig", example: {} });

const settings = {
  name: Name,
  condition_metric: z.enum(REMEDIATION_METRICS.map(({ id }) => id)).meta({
    description: REMEDIATION_METRICS.map(({ id, description }) => `${id}: ${description}`)
      .join(". "),
  }),
  condition_operator: z.enum(ALERT_OPERATORS),
  condition_threshold: z.number().min(-1e12).max(1e12),
  condition_duration: z.int().min(0).max(86_400).meta({
    description: "Seconds for which the condition must hold without interruption",
  }),
  action_type: Action,
  action_target: ContainerRef,
  action_config: ActionConfig,
  cooldown_seconds: z.int().min(0).max(86_400).meta({
    description: "Minimum number of seconds between two firings",
  }),
  enabled: z.boolean(),
};

const AllowMissing = z.boolean().default(false).meta({
  description: "Whether the target may be missing; otherwise that is 400, unless the engine is " +
    "unreachable",
});

const NewRule = z.object({
  ...settings,
  allow_missing: AllowMissing,
  condition_duration: settings.condition_duration.default(0),
  action_config: ActionConfig.default({}),
  cooldown_seconds: settings.cooldown_seconds.default(900),
  enabled: z.boolean().default(true),
}).meta({
  id: "NewRemediationRule",
  example: {
    name: "Keep the shop running",
    condition_metric: "container_down",
    condition_operator: "==",
    condition_threshold: 1,
    condition_duration: 0,
    action_type: "start",
    action_target: "web",
    action_config: {},
    cooldown_seconds: 900,
  },
});

const RuleChanges = z.object(settings).partial().extend({ allow_missing: AllowMissing }).meta({
  id: "RemediationRuleChanges",
  example: { condition_duration: 60, cooldown_seconds: 300 },
});

const Rule = z.object({
  ...settings,
  id: z.string(),
  name: z.string(),
  condition: z.string().meta({
    description: "In words",
    example: "Container is down for 1 min",
  }),
  created_at: Timestamp,
  last_triggered_at: Timestamp.nullable(),
  trigger_count: z.int(),
}).meta({ id: "RemediationRule" });

const MetricDescription = z.object({
  id: z.string().meta({ example: "container_down" }),
  group: z.enum(["Container", "Host"]).meta({ description: "Container: the target of the rule" }),
  words: z.string().meta({ description: "Its name within the group", example: "down" }),
  title: z.string().meta({ description: "In conditions", example: "Container is down" }),
  description: z.string().meta({ example: "1 or 0" }),
  unit: z.enum(UNITS).nullable(),
  is_state: z.boolean().meta({ description: "Whether the value is 1 or 0" }),
  operator: z.enum(ALERT_OPERATORS).meta({
    description: "Proposed for a new rule, as is the threshold",
  }),
  threshold: z.number(),
}).meta({ id: "RemediationMetricDescription" });

const Run = z.object({
  id: z.string(),
  rule_id: z.string(),
  rule_name: z.string(),
  metric_value: z.number().nullable().meta({
    description: "When the rule fired; null if it was disabled automatically",
  }),
  action_type: Action,
  action_target: z.string(),
  status: z.enum(REMEDIATION_STATUSES).meta({
    description:
      "skipped: a safety check prevented the action, or the rule was disabled automatically",
  }),
  error: z.string().nullable(),
  started_at: Timestamp,
  finished_at: Timestamp,
}).meta({ id: "RemediationRun" });

const UNKNOWN = { 404: "The rule does not exist" };
const ACTING = "A rule that is on requires the permission for its action as well, such as " +
  "`containers:restart`.";

const READ = { role: "viewer", permission: "remediation:read" } as const;
const WRITE = { role: "admin", permission: "remediation:write" } as const;

export const remediationEndpoints = (deps: Deps) => [
  endpoint("GET /remediation/rules", {
    operationId: "listRemediationRules",
    summary: "List remediation rules",
    description: "Sorted by name.",
    ...READ,
    returns: z.object({ rules: z.array(Rule) }).meta({ id: "RemediationRuleList" }),
  }, () => ({ rules: listRemediationRules(deps) })),

  endpoint(
    "POST /remediation/rules",
    {
      operationId: "createRemediationRule",
      summary: "Create a remediation rule",
      description:
        "The rule fires when its condition has held for the whole duration, and again if the " +
        "condition still holds after the cooldown. Rules do not act during maintenance, on " +
        "the service's own container or on Swarm tasks. While a value is unknown (the engine " +
        "is unreachable), nothing fires. A rule that fires 5 times within an hour is disabled " +
        `automatically. ${ACTING}`,
      ...WRITE,
      body: NewRule,
      returns: Rule,
      status: 201,
      failures: { 402: "The edition allows no more rules" },
    },
    ({ body: { allow_missing, ...settings }, caller }) =>
      createRemediationRule(deps, caller, settings, { allowMissing: allow_missing }),
  ),

  endpoint(
    "PUT /remediation/rules/:id",
    {
      operationId: "updateRemediationRule",
      summary: "Update a remediation rule",
      description:
        "Omitted fields keep their values. Changing the condition or the target resets the " +
        `rule; a running cooldown continues. ${ACTING}`,
      ...WRITE,
      body: RuleChanges,
      returns: Rule,
      failures: UNKNOWN,
    },
    ({ params, body: { allow_missing, ...change }, caller }) =>
      changeRemediationRule(deps, caller, params.id, change, { allowMissing: allow_missing }),
  ),

  endpoint("DELETE /remediation/rules/:id", {
    operationId: "deleteRemediationRule",
    summary: "Delete a remediation rule",
    description: "Its history is kept.",
    ...WRITE,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => removeRemediationRule(deps, params.id)),

  endpoint("PUT /remediation/rules/:id/toggle", {
    operationId: "toggleRemediationRule",
    summary: "Enable or disable a remediation rule",
    description: "Enabling a rule that was disabled automatically resets its counter.",
    ...WRITE,
    body: EnabledBody.meta({ example: { enabled: true } }),
    returns: Rule,
    failures: UNKNOWN,
  }, ({ params, body, caller }) => changeRemediationRule(deps, caller, params.id, body)),

  endpoint("GET /remediation/metrics", {
    operationId: "listRemediationMetrics",
    summary: "List remediation metrics",
    description: "Everything that a rule can watch, by group.",
    ...READ,
    etag: true,
    returns: z.object({ metrics: z.array(MetricDescription) })
      .meta({ id: "RemediationMetricList" }),
  }, () => ({
    metrics: REMEDIATION_METRICS.map(({ unit = null, states, ...metric }) => ({
      ...metric,
      unit,
      is_state: states !== undefined,
    })),
  })),

  endpoint("GET /remediation/history", {
    operationId: "listRemediationRuns",
    summary: "List remediation runs",
    description:
      "Finished runs, newest first, including runs of deleted rules. Kept for 90 days, at " +
      "most 1,000 per rule.",
    ...READ,
    query: z.object(pagingQuery(50)),
    returns: paged({ history: z.array(Run) }).meta({ id: "RemediationHistory" }),
  }, ({ query }) => listRemediationRuns(deps, query)),
];
