/**
 * /api/alerts: what is watched, and what came of it.
 *
 * @module
 */

import * as z from "zod";
import { listAlertEvents } from "../../services/ce/alert_events.ts";
import {
  ALERT_METRICS,
  ALERT_OPERATORS,
  ALERT_STATES,
  type AlertRule,
  changeAlertRule,
  createAlertRule,
  listAlertRules,
  removeAlertRule,
} from "../../services/ce/alert_rules.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../endpoint.ts";
import { Done, done, EnabledBody, IdParams, paged, pagingQuery, Timestamp } from "../shapes.ts";

const Metric = z.enum(ALERT_METRICS, { error: `must be one of ${ALERT_METRICS.join(", ")}` })
  .meta({
    description: "Percents are of the whole host, load_1 is the load average over a minute, " +
      "container_stopped counts the containers that are not running",
  });

const Operator = z.enum(ALERT_OPERATORS, {
  error: `must be one of ${ALERT_OPERATORS.join(", ")}`,
});

const settings = {
  name: z.string().trim().min(1).max(100),
  metric: Metric,
  operator: Operator,
  threshold: z.number().min(-1e12).max(1e12),
  durationSeconds: z.int().min(0).max(86_400).meta({
    description: "How long the condition has to hold without a break",
  }),
};

const AutoIncident = z.boolean().meta({ description: "Whether a firing opens an incident (Pro)" });

const example = {
  name: "High CPU",
  metric: "cpu_percent",
  operator: ">",
  threshold: 90,
  durationSeconds: 60,
};

const NewRule = z.object({ ...settings, autoIncident: AutoIncident.default(false) })
  .meta({ example });

const RuleChanges = z.object({ ...settings, autoIncident: AutoIncident, enabled: z.boolean() })
  .partial()
  .meta({ example: { threshold: 95, durationSeconds: 120 } });

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
});

const AlertEvent = z.object({
  id: z.string(),
  ruleId: z.string(),
  ruleName: z.string(),
  metric: Metric,
  operator: Operator,
  threshold: z.number(),
  value: z.number().meta({ description: "At the firing" }),
  message: z.string().meta({ example: "High CPU: cpu_percent is 97.2 (> 90 for 60 s)" }),
  firedAt: Timestamp,
  rule_name: z.string().meta({ description: "Same as ruleName" }),
  created_at: Timestamp.meta({ description: "Same as firedAt" }),
  resolvedAt: Timestamp.nullable().meta({ description: "null while it fires" }),
});

/** Clients read some fields in snake case. */
const ruleShown = (rule: AlertRule) => ({
  ...rule,
  duration_seconds: rule.durationSeconds,
  created_at: rule.createdAt,
});

const UNKNOWN = { 404: "There is no such rule" };

export const alertEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/api/alerts/rules",
    summary: "List alert rules",
    description: "By name.",
    role: "viewer",
    permission: "alerts:read",
    returns: z.object({ rules: z.array(Rule) }),
  }, () => ({ rules: listAlertRules(deps).map(ruleShown) })),

  endpoint({
    method: "post",
    path: "/api/alerts/rules",
    summary: "Create an alert rule",
    description: "It fires once its condition has held for the whole duration and is resolved as " +
      "soon as it does not hold. After a firing there is none for 15 minutes. While a metric is " +
      "not known (the engine is away), nothing fires and nothing is resolved.",
    role: "admin",
    permission: "alerts:write",
    body: NewRule,
    returns: Rule,
    status: 201,
    failures: { 402: "The edition allows no more rules" },
  }, ({ body }) => ruleShown(createAlertRule(deps, body))),

  endpoint({
    method: "put",
    path: "/api/alerts/rules/:id",
    summary: "Change an alert rule",
    description: "What is left out stays. With another condition, or turned off, the rule begins " +
      "anew and what it has firing is resolved.",
    role: "admin",
    permission: "alerts:write",
    params: IdParams,
    body: RuleChanges,
    returns: Rule,
    failures: UNKNOWN,
  }, ({ params, body }) => ruleShown(changeAlertRule(deps, params.id, body))),

  endpoint({
    method: "delete",
    path: "/api/alerts/rules/:id",
    summary: "Delete an alert rule",
    description: "Its events stay; what it has firing is resolved.",
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
    summary: "Turn an alert rule on or off",
    description: "What a rule has firing is resolved when it is turned off.",
    role: "admin",
    permission: "alerts:write",
    params: IdParams,
    body: EnabledBody.meta({ example: { enabled: false } }),
    returns: Rule,
    failures: UNKNOWN,
  }, ({ params, body }) => ruleShown(changeAlertRule(deps, params.id, body))),

  endpoint({
    method: "get",
    path: "/api/alerts/events",
    summary: "List alert events",
    description: "Newest first, kept for 90 days, also when the rule is deleted.",
    role: "viewer",
    permission: "alerts:read",
    query: z.object(pagingQuery(50)),
    returns: paged({ events: z.array(AlertEvent) }),
  }, ({ query }) => listAlertEvents(deps, query)),
];
