/** /sla/definitions: which uptime is promised, of which monitors. @module */

import * as z from "zod";
import type { Deps } from "../../../services/deps.ts";
import {
  changeSla,
  createSla,
  DEFINITIONS_MAX,
  listSlaDefinitions,
  PERIOD_TYPES,
  removeSla,
} from "../../../services/pro/sla/definitions.ts";
import { getSla } from "../../../services/pro/sla/report.ts";
import { endpoint } from "../../contract/endpoint.ts";
import { Done, Name } from "../../contract/shapes.ts";
import { SlaDefinition, SlaStatus, TargetUptime } from "./shapes.ts";

const settings = {
  name: Name,
  description: z.string().trim().max(1_000),
  target_uptime: TargetUptime,
  period_type: z.enum(PERIOD_TYPES).meta({
    description: "Calendar months, or weeks from Monday to Monday, in UTC",
  }),
  monitor_ids: z.array(z.string().min(1).max(255)).min(1).max(500).meta({
    description: "Uptime monitors. When one of them is down, the service is",
  }),
};

const NewSlaDefinition = z.object({
  ...settings,
  description: settings.description.default(""),
  period_type: settings.period_type.default("monthly"),
}).meta({
  id: "NewSlaDefinition",
  example: {
    name: "Shop",
    description: "As promised to our customers",
    target_uptime: 99.9,
    period_type: "monthly",
    monitor_ids: ["7f8f8a8e-0c4e-4a0e-9f63-0d9d4b0f3f51"],
  },
});

const SlaDefinitionChanges = z.object(settings).partial().meta({
  id: "SlaDefinitionChanges",
  example: { target_uptime: 99.95 },
});

const UNKNOWN = { 404: "The SLA definition does not exist" };

const READ = { role: "viewer", permission: "sla:read" } as const;
const WRITE = { role: "admin", permission: "sla:write" } as const;

export const slaDefinitionEndpoints = (deps: Deps) => [
  endpoint("GET /sla/definitions", {
    operationId: "listSlaDefinitions",
    summary: "List SLA definitions",
    description: "Sorted by name.",
    ...READ,
    returns: z.object({ definitions: z.array(SlaDefinition) }).meta({ id: "SlaDefinitionList" }),
  }, () => ({ definitions: listSlaDefinitions(deps) })),

  endpoint("POST /sla/definitions", {
    operationId: "createSlaDefinition",
    summary: "Create an SLA definition",
    description:
      "Downtime is the time during which at least one of the monitors was down. Paused and " +
      "unknown time does not count as downtime.",
    ...WRITE,
    body: NewSlaDefinition,
    returns: SlaDefinition,
    status: 201,
    failures: { 409: `Limit of ${DEFINITIONS_MAX} SLA definitions reached` },
  }, ({ body }) => createSla(deps, body)),

  endpoint("GET /sla/definitions/:id", {
    operationId: "getSlaDefinition",
    summary: "Get an SLA definition",
    description: "Includes its current period.",
    ...READ,
    returns: SlaDefinition.extend({ current_status: SlaStatus }).meta({
      id: "SlaDefinitionDetail",
    }),
    failures: UNKNOWN,
  }, ({ params }) => getSla(deps, params.id)),

  endpoint("PUT /sla/definitions/:id", {
    operationId: "updateSlaDefinition",
    summary: "Update an SLA definition",
    description:
      "Omitted fields keep their values. The current period is recalculated with the new " +
      "target and monitors; closed periods and breaches do not change. A new `period_type` " +
      "opens a period of that type, and the one of the previous type continues until it " +
      "ends. Deleted monitors may remain: their past outages count.",
    ...WRITE,
    body: SlaDefinitionChanges,
    returns: SlaDefinition,
    failures: UNKNOWN,
  }, ({ params, body }) => changeSla(deps, params.id, body)),

  endpoint("DELETE /sla/definitions/:id", {
    operationId: "deleteSlaDefinition",
    summary: "Delete an SLA definition",
    description: "Also deletes its periods and breaches. Monitors and their outages are kept.",
    ...WRITE,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => removeSla(deps, params.id)),
];
