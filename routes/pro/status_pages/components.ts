/** /status-pages/:pageId/components: components of a status page. @module */

import * as z from "zod";
import type { Deps } from "../../../services/deps.ts";
import {
  changeComponent,
  createComponent,
  listComponents,
  removeComponent,
} from "../../../services/pro/status_pages/components.ts";
import { endpoint } from "../../contract/endpoint.ts";
import { Done, oneLine } from "../../contract/shapes.ts";
import { Component, ComponentStatus, multiLine, NAME_MAX, UNKNOWN_PAGE } from "./shapes.ts";

const ORDER_MAX = 1_000_000;

const fields = {
  name: oneLine(NAME_MAX),
  description: multiLine(),
  status: ComponentStatus,
  display_order: z.int().min(0).max(ORDER_MAX).meta({
    description: "Default: after the last component",
  }),
  group_name: oneLine(NAME_MAX).nullable(),
  monitor_id: z.string().min(1).max(255).nullable().meta({
    description: "An uptime monitor that sets the status: `operational` while it is up, " +
      "`major_outage` while it is down. null removes the link, as does deleting the monitor",
    example: null,
  }),
};

const EXAMPLE = {
  name: "API",
  description: "Used by the mobile apps",
  status: "operational",
  display_order: 1,
  group_name: "Core",
};

const NewComponent = z.object({
  ...fields,
  description: fields.description.default(""),
  status: fields.status.default("operational"),
  display_order: fields.display_order.optional(),
  group_name: fields.group_name.default(null),
  monitor_id: fields.monitor_id.default(null),
}).meta({ id: "NewStatusPageComponent", example: EXAMPLE });

const ComponentChange = z.object(fields).partial()
  .meta({ id: "StatusPageComponentChanges", example: { status: "partial_outage" } });

const UNKNOWN = { 404: "The status page or the component does not exist" };

const READ = { role: "viewer", permission: "status_pages:read" } as const;
const WRITE = { role: "admin", permission: "status_pages:write" } as const;

export const statusPageComponentEndpoints = (deps: Deps) => [
  endpoint("GET /status-pages/:pageId/components", {
    operationId: "listStatusPageComponents",
    summary: "List components of a status page",
    description: "In display order.",
    ...READ,
    returns: z.object({ components: z.array(Component) }).meta({ id: "StatusPageComponentList" }),
    failures: UNKNOWN_PAGE,
  }, ({ params }) => ({ components: listComponents(deps, params.pageId) })),

  endpoint("POST /status-pages/:pageId/components", {
    operationId: "createStatusPageComponent",
    summary: "Create a status page component",
    description: "A component with a monitor has the monitor's status while that is known.",
    ...WRITE,
    body: NewComponent,
    returns: Component,
    status: 201,
    failures: { ...UNKNOWN_PAGE, 409: "The page or the monitor has too many components" },
  }, ({ params, body }) => createComponent(deps, params.pageId, body)),

  endpoint("PUT /status-pages/:pageId/components/:compId", {
    operationId: "updateStatusPageComponent",
    summary: "Update a status page component",
    description: "Omitted fields keep their values. A changed status publishes the event " +
      "`status_page.updated` and notifies the subscribers.",
    ...WRITE,
    body: ComponentChange,
    returns: Component,
    failures: { ...UNKNOWN, 409: "The status follows a monitor and cannot be set" },
  }, ({ params, body }) => changeComponent(deps, params.pageId, params.compId, body)),

  endpoint("DELETE /status-pages/:pageId/components/:compId", {
    operationId: "deleteStatusPageComponent",
    summary: "Delete a status page component",
    ...WRITE,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => removeComponent(deps, params.pageId, params.compId)),
];
