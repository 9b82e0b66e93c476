/** /sla/definitions/:id/... and /sla/breaches: periods, budgets, breaches and reports. @module */

import * as z from "zod";
import type { Deps } from "../../../services/deps.ts";
import {
  getCurrentPeriod,
  getSlaBudget,
  listBreaches,
  listSlaBreaches,
  listSlaPeriods,
  recalculateSla,
  reportSla,
} from "../../../services/pro/sla/report.ts";
import { endpoint } from "../../contract/endpoint.ts";
import { paged, pagingQuery } from "../../contract/shapes.ts";
import { CurrentPeriod, SlaBreach, SlaBudget, SlaPeriod, SlaReport } from "./shapes.ts";

const Paging = z.object(pagingQuery(50));

const BreachQuery = Paging.extend({
  sla_id: z.string().min(1).max(255).optional().meta({ description: "Only breaches of this SLA" }),
});

const Breaches = paged({ breaches: z.array(SlaBreach) }).meta({ id: "SlaBreachPage" });

const UNKNOWN = { 404: "The SLA definition does not exist" };

const READ = { role: "viewer", permission: "sla:read" } as const;
const WRITE = { role: "admin", permission: "sla:write" } as const;

export const slaReportEndpoints = (deps: Deps) => [
  endpoint("GET /sla/definitions/:id/periods", {
    operationId: "listSlaPeriods",
    summary: "List SLA periods",
    description: "Newest first, including the current one. Periods close automatically.",
    ...READ,
    query: Paging,
    returns: paged({ periods: z.array(SlaPeriod) }).meta({ id: "SlaPeriodPage" }),
    failures: UNKNOWN,
  }, ({ params, query }) => listSlaPeriods(deps, params.id, query)),

  endpoint("GET /sla/definitions/:id/current", {
    operationId: "getCurrentSlaPeriod",
    summary: "Get the current SLA period",
    description:
      "Calculated at the time of the request. The period is created if it does not exist.",
    ...READ,
    returns: CurrentPeriod,
    failures: UNKNOWN,
  }, ({ params }) => getCurrentPeriod(deps, params.id)),

  endpoint("POST /sla/definitions/:id/recalculate", {
    operationId: "recalculateSla",
    summary: "Recalculate the current SLA period",
    description: "Uses the outages of its monitors. This also happens every minute automatically.",
    ...WRITE,
    returns: SlaPeriod,
    failures: UNKNOWN,
  }, ({ params }) => recalculateSla(deps, params.id)),

  endpoint("GET /sla/definitions/:id/budget", {
    operationId: "getSlaBudget",
    summary: "Get an SLA's error budget",
    description: "For the current period, calculated at the time of the request.",
    ...READ,
    returns: SlaBudget,
    failures: UNKNOWN,
  }, ({ params }) => getSlaBudget(deps, params.id)),

  endpoint("GET /sla/breaches", {
    operationId: "listAllSlaBreaches",
    summary: "List breaches of all SLAs",
    description:
      "Newest first. A period is breached once, when its downtime exceeds the budget; the " +
      "figures are those at the time of detection.",
    ...READ,
    query: BreachQuery,
    returns: Breaches,
  }, ({ query }) => listBreaches(deps, query)),

  endpoint("GET /sla/definitions/:id/breaches", {
    operationId: "listSlaBreaches",
    summary: "List breaches of an SLA",
    description: "Newest first.",
    ...READ,
    query: Paging,
    returns: Breaches,
    failures: UNKNOWN,
  }, ({ params, query }) => listSlaBreaches(deps, params.id, query)),

  endpoint("GET /sla/definitions/:id/report", {
    operationId: "getSlaReport",
    summary: "Get an SLA report",
    description:
      "The definition, the current period with its budget, the newest 100 periods and 100 " +
      "breaches, and the burn rate of the current period at the end of each of its days.",
    ...READ,
    returns: SlaReport,
    failures: UNKNOWN,
  }, ({ params }) => reportSla(deps, params.id)),
];
