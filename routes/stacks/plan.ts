/** /api/stacks/:name/plan: what a deploy would change. @module */

import * as z from "zod";
import { planGivenSources, planStoredStack } from "../../services/compose/plan/stored.ts";
import { planGivenSwarm, planSwarmStack } from "../../services/compose/swarm/plan.ts";
import { isSwarmStack } from "../../services/compose/swarm/start.ts";
import { required } from "../../services/compose/given_sources.ts";
import type { Caller } from "../../services/access/caller.ts";
import type { Change as Fields } from "../../services/change.ts";
import type { PlanOptions as Options } from "../../services/compose/plan/options.ts";
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
      description: "Compares the sources with the containers of the Compose project, or with the " +
        "services of the Swarm stack, and changes nothing. It does not matter which program " +
        "created the containers. Settings that " +
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
        409: "The sources are no longer accepted, the files of the directory cannot be read, or " +
          "the engine of a Swarm stack does not manage a swarm",
        ...ENGINE_FAILURES,
      },
    },
    async ({ params: { name }, body: { sources, ...options }, caller }) =>
      isSwarmStack(deps, name)
        ? await planOfSwarm(deps, caller, name, { sources, options })
        : sources
        ? { version: null, ...await planGivenSources(deps, caller, name, sources, options) }
        : await planStoredStack(deps, caller, name, options),
  ),
];

interface GivenPlan {
  sources: Fields<z.output<typeof StackSources>> | undefined;
  options: Options;
}

async function planOfSwarm(
  deps: Deps,
  caller: Caller,
  name: string,
  { sources, options }: GivenPlan,
) {
  if (!sources) return await planSwarmStack(deps, caller, name, options);
  const { compose, env, files, profiles } = sources;
  if (compose === undefined) throw required("body.sources.compose");
  const given = { compose, env, files, profiles };
  return { version: null, ...await planGivenSwarm(deps, caller, name, given, options) };
}
