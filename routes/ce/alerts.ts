/**
 * /api/alerts: alert rules and their events.
 *
 * @module
 */

import * as z from "zod";
import { getAlertEvent, listAlertEvents } from "../../services/ce/alerts/events.ts";
import {
  ALERT_METRICS,
  ALERT_OPERATORS,
  ALERT_STATES,
  type AlertRule,
  changeAlertRule,
  createAlertRule,
  getAlertRule,
  listAlertRules,
  removeAlertRule,
} from "../../services/ce/alerts/rules.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../endpoint.ts";
import { Done, done, EnabledBody, IdParams, paged, pagingQuery, Timestamp } from "../shapes.ts";

const Metric = z.enum(ALERT_METRICS)
  .meta({
    id: "AlertMetric",
    description: "Percentages are of the whole host; load_1 is the load average over a minute; " +
      "container_stopped counts the containers that are not running, without finished tasks " +
      "(exit code 0 and the restart policy no)",
  });

const Operator = z.enum(ALERT_OPERATORS).meta({ id: "AlertOperator" });

const settings = {
  name: z.string().trim().min(1).max(100),
  metric: Metric,
  operator: Operator,
  threshold: z.number().min(-1e12).max(1e12),
  durationSeconds: z.int().min(0).max(86_400).meta({
    description: "How long the condition must hold without interruption",
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

const NewRule = z.object({ ...settings, autoIncident: AutoIncident.default(false) })
  .meta({ id: "NewAlertRule", example });

const RuleChanges = z.object({
  ...settings,
  duration_seconds: settings.durationSeconds.meta({ description: "Same as durationSeconds" }),
  autoIncident: AutoIncident,
  enabled: z.boolean(),
})
  .partial()
  .meta({ id: "AlertRuleChanges", example: { threshold: 95, durationSeconds: 120 } });

const Rule = z.object({
  ...settings,
  id: z.string(),
  autoIncident: AutoIncident,
  enabled: z.boolean(),
  createdAt: Timestamp,
  duration_seconds: z.int().meta({ description: "Same as durationSeconds" }),
  created_at: Timestamp.meta({ description: "Same as createdAt" }),
  lastFiredAt: Timestamp.nullable(),
  state: z.enum(ALERT_STATES).meta({
    description: "pending: the condition holds, but not for long enough or within the cooldown",
  }),
}).meta({ id: "AlertRule" });

const AlertEvent = z.object({
  id: z.string(),
  ruleId: z.string(),
  ruleName: z.string(),
  metric: Metric,
  operator: Operator,
  threshold: z.number(),
  value: z.number().meta({ description: "When the rule fired" }),
  message: z.string().meta({ example: "High CPU: cpu_percent is 97.2 (> 90 for 60 s)" }),
  firedAt: Timestamp,
  rule_name: z.string().meta({ description: "Same as ruleName" }),
  created_at: Timestamp.meta({ description: "Same as firedAt" }),
  resolvedAt: Timestamp.nullable().meta({ description: "null while it fires" }),
}).meta({ id: "AlertEvent" });

/** Adds the snake_case names that some clients read. */
const withSnakeCase = (rule: AlertRule) => ({
  ...rule,
  duration_seconds: rule.durationSeconds,
  created_at: rule.createdAt,
});

const UNKNOWN = { 404: "The rule does not exist" };

export const alertEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/api/alerts/rules",
    operationId: "listAlertRules",
    summary: "List alert rules",
    description: "Sorted by name.",
    role: "viewer",
    permission: "alerts:read",
    returns: z.object({ rules: z.array(Rule) }).meta({ id: "AlertRuleList" }),
  }, () => ({ rules: listAlertRules(deps).map(withSnakeCase) })),

  endpoint({
    method: "post",
    path: "/api/alerts/rules",
    operationId: "createAlertRule",
    summary: "Create an alert rule",
    description:
      "The rule fires when its condition has held for the whole duration, and resolves when " +
      "the condition no longer holds. After firing, it does not fire again for 15 minutes. " +
      "While the metric is unknown (the engine is unreachable), nothing fires and nothing " +
      "resolves.",
    role: "admin",
    permission: "alerts:write",
    body: NewRule,
    returns: Rule,
    status: 201,
    failures: { 402: "The edition allows no more rules" },
  }, ({ body }) => withSnakeCase(createAlertRule(deps, body))),

  endpoint({
    method: "get",
    path: "/api/alerts/rules/:id",
    operationId: "getAlertRule",
    summary: "Get an alert rule",
    role: "viewer",
    permission: "alerts:read",
    params: IdParams,
    returns: Rule,
    failures: UNKNOWN,
  }, ({ params }) => withSnakeCase(getAlertRule(deps, params.id))),

  endpoint(
    {
      method: "put",
      path: "/api/alerts/rules/:id",
      operationId: "updateAlertRule",
      summary: "Update an alert rule",
      description:
        "Omitted fields keep their values. Changing the condition or disabling the rule " +
        "resets it and resolves its firing alert.",
      role: "admin",
      permission: "alerts:write",
      params: IdParams,
      body: RuleChanges,
      returns: Rule,
      failures: UNKNOWN,
    },
    ({ params, body: { duration_seconds: durationSeconds, ...change } }) =>
      withSnakeCase(changeAlertRule(deps, params.id, { durationSeconds, ...change })),
  ),

  endpoint({
    method: "delete",
    path: "/api/alerts/rules/:id",
    operationId: "deleteAlertRule",
    summary: "Delete an alert rule",
    description: "Past events are kept; a firing alert is resolved.",
    role: "admin",
    permission: "alerts:write",
    params: IdParams,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => {
    removeAlertRule(deps, params.id);
    return done;
  }),

  endpoint({
    method: "put",
    path: "/api/alerts/rules/:id/toggle",
    operationId: "toggleAlertRule",
    summary: "Enable or disable an alert rule",
    description: "Disabling a rule resolves its firing alert.",
    role: "admin",
    permission: "alerts:write",
    params: IdParams,
    body: EnabledBody.meta({ example: { enabled: false } }),
    returns: Rule,
    failures: UNKNOWN,
  }, ({ params, body }) => withSnakeCase(changeAlertRule(deps, params.id, body))),

  endpoint({
    method: "get",
    path: "/api/alerts/events",
    operationId: "listAlertEvents",
    summary: "List alert events",
    description: "Newest first, kept for 90 days, including events of deleted rules.",
    role: "viewer",
    permission: "alerts:read",
    query: z.object(pagingQuery(50)),
    returns: paged({ events: z.array(AlertEvent) }).meta({ id: "AlertEventPage" }),
  }, ({ query }) => listAlertEvents(deps, query)),

  endpoint({
    method: "get",
    path: "/api/alerts/events/:id",
    operationId: "getAlertEvent",
    summary: "Get an alert event",
    role: "viewer",
    permission: "alerts:read",
    params: IdParams,
    returns: AlertEvent,
    failures: { 404: "The event does not exist" },
  }, ({ params }) => getAlertEvent(deps, params.id)),
];
