/** /api/stacks/:name/plan: what a deploy would change. @module */

import * as z from "zod";
import { planGivenSources, planStoredStack } from "../../services/compose/plan/stored.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { ENGINE_FAILURES } from "../contract/shapes.ts";
import {
  Change,
  Directory,
  PlanOptions,
  ProjectParams,
  SOURCES_BODY_BYTES_MAX,
  StackSources,
} from "./shapes.ts";

export const stackPlanEndpoints = (deps: Deps) => [
  endpoint(
    "POST /api/stacks/:name/plan",
    {
      operationId: "planStack",
      summary: "Plan a deploy",
      description: "Compares the sources with the containers of the Compose project, and " +
        "changes nothing. It does not matter which program created the containers. Settings that " +
        "are not compared are among the warnings.",
      role: "operator",
      permission: "stack_sources:read",
      audited: true,
      params: ProjectParams,
      body: PlanOptions.extend({
        sources: StackSources.extend({
          compose: StackSources.shape.compose.optional().meta({
            description:
              "The Compose text, up to 1 MiB; without it, the files of `directory` are " +
              "used, with the role admin only",
            example: "services:\n  web:\n    image: nginx\n",
          }),
          directory: Directory.optional().meta({
            description: "Directory on the host of a stack that has no stored sources yet, for " +
              "relative paths; with `compose` its files are not read",
          }),
        }).optional().meta({
          description:
            "Instead of the stored ones; for a stack on disk with the role admin only, " +
            "because its files complete them",
        }),
      }).meta({ id: "StackPlanOptions", example: { recreate: "changed" } }),
      bodyBytesMax: SOURCES_BODY_BYTES_MAX,
      returns: z.object({
        version: z.int().nullable().meta({
          description: "Of the stored sources; null with `sources`",
        }),
        changes: z.array(Change).meta({ description: "Networks, volumes, then services" }),
        warnings: z.array(z.string()),
      }).meta({ id: "StackPlan" }),
      failures: {
        404: "The stack has no stored sources",
        409: "It is a Swarm stack, its sources are no longer accepted, or the files of the " +
          "directory cannot be read",
        ...ENGINE_FAILURES,
      },
    },
    async ({ params: { name }, body: { sources, ...options }, caller }) =>
      sources
        ? { version: null, ...await planGivenSources(deps, caller, name, sources, options) }
        : await planStoredStack(deps, caller, name, options),
  ),
];
