/** /api/alerts/events and /api/alerts/active: what alert rules have found. @module */

import * as z from "zod";
import {
  acknowledgeAlert,
  getAlertEvent,
  listActiveAlerts,
  listAlertEvents,
} from "../../services/alerts/events.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { paged, pagingQuery, Timestamp } from "../contract/shapes.ts";
import { InhibitedBy, MetricId, Operator, Severity, ValueText } from "./shapes.ts";

const AlertEvent = z.object({
  id: z.string(),
  ruleId: z.string(),
  ruleName: z.string(),
  metric: MetricId,
  operator: Operator,
  threshold: z.number(),
  value: z.number().meta({ description: "When the rule fired" }),
  valueText: ValueText,
  message: z.string().meta({ example: "CPU is at 97.2 % (limit: above 90 % for 1 min)" }),
  severity: Severity,
  container: z.string().nullable().meta({ description: "Its name; null for the host or a stack" }),
  stack: z.string().nullable().meta({
    description: "The stack of the container, or the one that the value belongs to",
  }),
  firedAt: Timestamp,
  rule_name: z.string().meta({ description: "Same as ruleName" }),
  created_at: Timestamp.meta({ description: "Same as firedAt" }),
  resolvedAt: Timestamp.nullable().meta({ description: "null while it fires" }),
  acknowledgedAt: Timestamp.nullable(),
  acknowledgedBy: z.string().nullable().meta({
    description: "The user's email, or key",
    example: "ada@example.org",
  }),
  comment: z.string().nullable().meta({ description: "Of the acknowledgement" }),
}).meta({ id: "AlertEvent" });

const ActiveAlert = AlertEvent.extend({ inhibitedBy: InhibitedBy }).meta({ id: "ActiveAlert" });

export const alertEventEndpoints = (deps: Deps) => [
  endpoint("GET /api/alerts/active", {
    operationId: "listActiveAlerts",
    summary: "List active alerts",
    description: "Alerts that are not resolved, newest first.",
    role: "viewer",
    permission: "alerts:read",
    returns: z.object({ alerts: z.array(ActiveAlert) }).meta({ id: "ActiveAlertList" }),
  }, () => ({ alerts: listActiveAlerts(deps) })),

  endpoint("GET /api/alerts/events", {
    operationId: "listAlertEvents",
    summary: "List alert events",
    description: "Newest first, kept for 90 days, including events of deleted rules.",
    role: "viewer",
    permission: "alerts:read",
    query: z.object(pagingQuery(50)),
    returns: paged({ events: z.array(AlertEvent) }).meta({ id: "AlertEventPage" }),
  }, ({ query }) => listAlertEvents(deps, query)),

  endpoint("GET /api/alerts/events/:id", {
    operationId: "getAlertEvent",
    summary: "Get an alert event",
    role: "viewer",
    permission: "alerts:read",
    returns: AlertEvent,
    failures: { 404: "The event does not exist" },
  }, ({ params }) => getAlertEvent(deps, params.id)),

  endpoint("POST /api/alerts/events/:id/acknowledge", {
    operationId: "acknowledgeAlert",
    summary: "Acknowledge an alert",
    description: "Records that a user takes care of it. The alert stays active until its " +
      "condition no longer holds. A later acknowledgement replaces the earlier one.",
    role: "operator",
    permission: "alerts:write",
    body: z.object({
      comment: z.string().trim().min(1).max(1_000).optional(),
    }).meta({ id: "AlertAcknowledgement", example: { comment: "Adding a disk" } }),
    returns: AlertEvent,
    failures: { 404: "The event does not exist", 409: "The alert is already resolved" },
  }, ({ params, body, caller }) => acknowledgeAlert(deps, params.id, body.comment ?? null, caller)),
];
