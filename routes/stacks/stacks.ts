/** /api/stacks: compose projects and Swarm stacks. @module */

import * as z from "zod";
import { actOnStack } from "../../services/stacks/actions.ts";
import type { ContainerAction } from "../../services/containers/actions.ts";
import { STACK_KINDS } from "../../services/stacks/groups.ts";
import {
  getStack,
  listStacks,
  STACK_STATUSES,
  stacksVersion,
} from "../../services/stacks/stacks.ts";
import { hideForeign, visibleTo } from "../../services/containers/visible.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint, type Input } from "../contract/endpoint.ts";
import { ENGINE_FAILURES } from "../contract/shapes.ts";
import { ContainerListItem } from "../containers/shapes.ts";
import { StackParams } from "./shapes.ts";

const KindQuery = z.object({
  kind: z.enum(STACK_KINDS).optional().meta({
    description: "Needed if a compose project and a Swarm stack have the same name",
  }),
});

const Stack = z.object({
  name: z.string().meta({ example: "shop" }),
  kind: z.enum(STACK_KINDS),
  services: z.int().meta({ description: "Number of services" }),
  containerCount: z.int().meta({
    description: "For a Swarm stack, the desired tasks on all nodes",
  }),
  running: z.int(),
  stopped: z.int().meta({ description: "All states except running and paused" }),
  finished: z.int().meta({
    description: "Those stopped that have done their work: they exited with 0, and they have the " +
      'restart policy "no", or another service waits for their completion',
  }),
  unhealthy: z.int(),
  status: z.enum(STACK_STATUSES).meta({
    description: "healthy: every container runs or has finished, and none is unhealthy; " +
      "stopped: none is running, paused or restarting; " +
      "degraded: any other combination",
  }),
  allHealthy: z.boolean().meta({ description: "Whether the status is healthy" }),
});

const StackListItem = Stack.extend({
  containers: z.array(ContainerListItem.pick({
    id: true,
    name: true,
    image: true,
    state: true,
    health: true,
  })).meta({ description: "For a Swarm stack, those on this node" }),
}).meta({ id: "Stack" });

const StackDetail = Stack.extend({
  services: z.array(z.object({
    name: z.string(),
    image: z.string(),
    dependsOn: z.array(z.string()).meta({
      description: "Services that it needs, by the labels of its containers",
      example: ["db"],
    }),
    containers: z.array(ContainerListItem).meta({
      description: "For a Swarm stack, those on this node",
    }),
  })),
  workingDir: z.string().nullable().meta({
    description: "Working directory of the compose command",
  }),
  configFiles: z.array(z.string()),
  hasSources: z.boolean().meta({
    description: "Whether its sources are stored here; without them, a project can be adopted",
  }),
}).meta({ id: "StackDetail" });

const ActionReport = z.object({
  ok: z.boolean().meta({ description: "Whether everything is in the requested state" }),
  results: z.array(z.object({
    id: z.string().meta({ description: "Id of the container, or of the service in a Swarm stack" }),
    name: z.string().meta({ example: "shop-web-1" }),
    ok: z.boolean(),
    changed: z.boolean().meta({ description: "false if it was already in the requested state" }),
    error: z.string().nullable(),
  })),
}).meta({ id: "StackActionReport" });

const UNKNOWN = { 404: "The stack does not exist", ...ENGINE_FAILURES };

const OWN = "The service's own container is skipped, as its result says.";

const ACTION = {
  scope: "stack",
  role: "admin",
  params: StackParams,
  query: KindQuery,
  returns: ActionReport,
  failures: {
    409: "The stack has no containers, or its swarm is managed elsewhere",
    ...UNKNOWN,
  },
} as const;

export const stackEndpoints = (deps: Deps) => {
  /** Acts on a stack, and adds the affected containers or services to the audit entry. */
  const act = (action: ContainerAction) =>
  async ({ params: { name }, query, note, caller }: Input<
    z.output<typeof StackParams>,
    z.output<typeof KindQuery>,
    undefined
  >) => {
    const { ok, results } = await actOnStack(deps, name, action, { kind: query.kind });
    note.targets = [name, ...results.map((each) => each.name)];
    const errorOf = (error: string | null) => error && hideForeign(deps, caller, error);
    return { ok, results: results.map((each) => ({ ...each, error: errorOf(each.error) })) };
  };

  return [
    endpoint("GET /api/stacks", {
      operationId: "listStacks",
      scope: "filtered",
      summary: "List stacks",
      description: "Compose projects, and Swarm stacks if the engine is a Swarm manager.",
      role: "viewer",
      permission: "stacks:read",
      returns: z.object({ stacks: z.array(StackListItem) }).meta({ id: "StackList" }),
      failures: ENGINE_FAILURES,
      etag: true,
      version: () => stacksVersion(deps),
    }, async ({ caller }) => ({ stacks: await listStacks(visibleTo(deps, caller)) })),

    endpoint("GET /api/stacks/:name", {
      operationId: "getStack",
      scope: "filtered",
      summary: "Get a stack",
      description: "Includes its services and containers.",
      role: "viewer",
      permission: "stacks:read",
      params: StackParams,
      query: KindQuery,
      returns: StackDetail,
      failures: UNKNOWN,
      etag: true,
    }, ({ params, query, caller }) => getStack(visibleTo(deps, caller), params.name, query.kind)),

    endpoint("POST /api/stacks/:name/start", {
      operationId: "startStack",
      summary: "Start a stack",
      description: "Services start in dependency order. A service waits up to two minutes for " +
        "dependencies that must be healthy or completed. Swarm services get their previous " +
        "number of replicas.",
      ...ACTION,
      permission: "stacks:start",
    }, act("start")),

    endpoint("POST /api/stacks/:name/stop", {
      operationId: "stopStack",
      destructive: true,
      summary: "Stop a stack",
      description: `Dependents are stopped first. Swarm services are scaled to zero. ${OWN}`,
      ...ACTION,
      permission: "stacks:stop",
    }, act("stop")),

    endpoint("POST /api/stacks/:name/restart", {
      operationId: "restartStack",
      destructive: true,
      summary: "Restart a stack",
      description:
        `In dependency order. Swarm replaces the tasks of each service one after another. ${OWN}`,
      ...ACTION,
      permission: "stacks:restart",
    }, act("restart")),
  ];
};
