/** /api/stacks/:name/plan: what a deploy would change. @module */

import * as z from "zod";
import { planGivenSources, planStoredStack } from "../../services/compose/plan/stored.ts";
import { RECREATE_POLICIES } from "../../services/compose/plan/options.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { ENGINE_FAILURES } from "../contract/shapes.ts";
import { Directory, ProjectParams, SOURCES_BODY_BYTES_MAX, StackSources } from "./shapes.ts";

export const Change = z.object({
  kind: z.enum(["service", "network", "volume"]),
  name: z.string().meta({
    description: "The key in the Compose file, or the service of containers that are not in it",
    example: "web",
  }),
  action: z.enum(["create", "recreate", "start", "remove", "none"]),
  reasons: z.array(z.object({
    path: z.string().meta({ example: "environment.LOG_LEVEL" }),
    from: z.string().nullable().meta({
      description: "Null if it was not set; `(changed)` instead of the value of a variable",
    }),
    to: z.string().nullable(),
    text: z.string().meta({ example: "environment: LOG_LEVEL added" }),
  })),
});

/** Options that a plan and a deploy have in common. */
export const PlanOptions = z.object({
  recreate: z.enum(RECREATE_POLICIES).default("changed").meta({
    description: "Which containers are recreated",
  }),
  removeOrphans: z.boolean().default(false).meta({
    description: "Whether containers of services that are not in the Compose file are removed",
  }),
  services: z.array(z.string().min(1).max(255)).min(1).max(1000).optional().meta({
    description: "Only these, and those that they depend on",
    example: ["web"],
  }),
});

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
        : await planStoredStack(deps, name, options),
  ),
];
