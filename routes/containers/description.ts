/** /api/containers/:id: inspect, changes. @module */

import * as z from "zod";
import { describeContainer, listChanges } from "../../services/containers/inspect.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { paged, queryInteger } from "../contract/shapes.ts";
import { ContainerParams, UNKNOWN } from "./shapes.ts";

/** Limit of changed files in one response. */
const CHANGES_MAX = 10_000;

const FAILURES = {
  403: "The role does not allow this; the service's own container is for admins",
  ...UNKNOWN,
};

export const containerDescriptionEndpoints = (deps: Deps) => [
  endpoint("GET /api/containers/:id/inspect", {
    operationId: "inspectContainer",
    scope: "container",
    summary: "Inspect a container",
    description: "The engine's own description, whose fields depend on the engine. Values of " +
      "environment variables and of options of log and volume drivers are redacted unless the " +
      "caller is an admin.",
    role: "viewer",
    permission: "containers:read",
    params: ContainerParams,
    returns: z.looseObject({ Id: z.string(), Name: z.string() }).meta({
      id: "ContainerInspection",
      example: { Id: "4f66ad9a0b2e", Name: "/web", State: { Status: "running" } },
    }),
    failures: FAILURES,
  }, ({ params, caller }) => describeContainer(deps, params.id, caller)),

  endpoint(
    "GET /api/containers/:id/changes",
    {
      operationId: "listContainerChanges",
      scope: "container",
      summary: "List changed files",
      description:
        "Files and folders that were added, modified or deleted since the container was " +
        "created, by path. Volumes are not included.",
      role: "viewer",
      permission: "containers:read",
      params: ContainerParams,
      query: z.object({
        limit: queryInteger({
          min: 1,
          max: CHANGES_MAX,
          fallback: 1_000,
          description: "Maximum number of entries",
        }),
        offset: queryInteger({
          min: 0,
          max: Number.MAX_SAFE_INTEGER,
          fallback: 0,
          description: "Number of entries to skip",
        }),
      }),
      returns: paged({
        changes: z.array(z.object({
          path: z.string().meta({ example: "/etc/passwd" }),
          kind: z.enum(["modified", "added", "deleted"]),
        })),
      }).meta({ id: "FileChangeList" }),
      failures: { ...FAILURES, 429: "Too many file comparisons at the same time" },
    },
    ({ params, query, caller, request }) =>
      listChanges(deps, params.id, query, caller, request.signal),
  ),
];
