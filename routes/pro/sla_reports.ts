/**
 * /sla/definitions/:id/... and /sla/breaches: what became of the promised uptime.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import {
  getCurrentPeriod,
  getSlaBudget,
  listBreaches,
  listSlaBreaches,
  listSlaPeriods,
  recalculateSla,
  reportSla,
} from "../../services/pro/sla_report.ts";
import { endpoint } from "../endpoint.ts";
import { IdParams, paged, pagingQuery } from "../shapes.ts";
import { CurrentPeriod, SlaBreach, SlaBudget, SlaPeriod, SlaReport } from "./sla_shapes.ts";

const Paging = z.object(pagingQuery(50));

const BreachQuery = Paging.extend({
  sla_id: z.string().min(1).max(255).optional().meta({ description: "Only those of this SLA" }),
});

const Breaches = paged({ breaches: z.array(SlaBreach) });

const UNKNOWN = { 404: "There is no such SLA definition" };

export const slaReportEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/sla/definitions/:id/periods",
    summary: "List the periods of an SLA",
    description: "Newest first, the current one included. Periods close by themselves.",
    role: "viewer",
    permission: "sla:read",
    params: IdParams,
    query: Paging,
    returns: paged({ periods: z.array(SlaPeriod) }),
    failures: UNKNOWN,
  }, ({ params, query }) => listSlaPeriods(deps, params.id, query)),

  endpoint({
    method: "get",
    path: "/sla/definitions/:id/current",
    summary: "Show the current period of an SLA",
    description: "As it is at this moment. Opened where there is none.",
    role: "viewer",
    permission: "sla:read",
    params: IdParams,
    returns: CurrentPeriod,
    failures: UNKNOWN,
  }, ({ params }) => getCurrentPeriod(deps, params.id)),

  endpoint({
    method: "post",
    path: "/sla/definitions/:id/recalculate",
    summary: "Count the current period of an SLA anew",
    description: "From the outages of its monitors, as happens every minute by itself.",
    role: "admin",
    permission: "sla:write",
    params: IdParams,
    returns: SlaPeriod,
    failures: UNKNOWN,
  }, ({ params }) => recalculateSla(deps, params.id)),

  endpoint({
    method: "get",
    path: "/sla/definitions/:id/budget",
    summary: "Show the error budget of an SLA",
    description: "Of the current period, as it is at this moment.",
    role: "viewer",
    permission: "sla:read",
    params: IdParams,
    returns: SlaBudget,
    failures: UNKNOWN,
  }, ({ params }) => getSlaBudget(deps, params.id)),

  endpoint({
    method: "get",
    path: "/sla/breaches",
    summary: "List breaches of all SLAs",
    description: "Newest first. A period is breached once, when its downtime exceeds the budget; " +
      "the figures are those of the moment at which that was seen.",
    role: "viewer",
    permission: "sla:read",
    query: BreachQuery,
    returns: Breaches,
  }, ({ query }) => listBreaches(deps, query)),

  endpoint({
    method: "get",
    path: "/sla/definitions/:id/breaches",
    summary: "List the breaches of an SLA",
    description: "Newest first.",
    role: "viewer",
    permission: "sla:read",
    params: IdParams,
    query: Paging,
    returns: Breaches,
    failures: UNKNOWN,
  }, ({ params, query }) => listSlaBreaches(deps, params.id, query)),

  endpoint({
    method: "get",
    path: "/sla/definitions/:id/report",
    summary: "Report on an SLA",
    description: "The definition, the current period with its budget, the newest 100 periods and " +
      "100 breaches, and the burn rate of the current period at the end of each of its days.",
    role: "viewer",
    permission: "sla:read",
    params: IdParams,
    returns: SlaReport,
    failures: UNKNOWN,
  }, ({ params }) => reportSla(deps, params.id)),
];
