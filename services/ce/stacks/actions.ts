/**
 * Starting, stopping and restarting whole stacks.
 *
 * The services of a compose project are started in the order of their dependencies and stopped in
 * reverse; those that do not depend on each other at the same time. A service whose dependency has
 * to be healthy or completed first is not started before that, as with compose.
 *
 * @module
 */

import { EngineUnreachableError } from "../../../engine/errors.ts";
import type { Deps } from "../../deps.ts";
import { AppError, asAppError } from "../../errors.ts";
import type { Container } from "../../state/inventory.ts";
import { errorFields } from "../../log.ts";
import type { Operation } from "../../state/reservations.ts";
import {
  type ActionDeps as ContainerActionDeps,
  ACTIVITIES,
  type ContainerAction,
  restartContainer,
  startContainer,
  STOP_TIMEOUT_S,
  stopContainer,
} from "../containers/actions.ts";
import { currentContainers, inspectContainer, type ReadDeps } from "../containers/reads.ts";
import type { Stack, StackKind, StackService } from "./groups.ts";
import { type Dependency, startOrder } from "./order.ts";
import { findStack, hasCompleted } from "./stacks.ts";
import { actOnService } from "../swarm/actions.ts";

/** What became of one container, or of one service of a swarm. */
export interface StackActionResult {
  id: string;
  name: string;
  ok: boolean;
  /** `false` when it was in the wanted state already. */
  changed: boolean;
  error: string | null;
}

export interface StackActionReport {
  /** Whether everything is in the wanted state now. */
  ok: boolean;
  results: StackActionResult[];
}

type ActionDeps = ContainerActionDeps & Pick<Deps, "log" | "now">;

/** An action on a stack. */
interface StackAction {
  action: ContainerAction;
  operation: Operation;
}

/** How long one action waits in all for services to be healthy or completed, in milliseconds. */
const CONDITIONS_MS = 120_000;

/** How often it looks, in milliseconds. */
const LOOK_MS = 100;

/** Longest time to stop that is granted to a container which asks for any, in seconds. */
const STOP_TIMEOUT_MAX_S = 300;

/**
 * Acts on every container of a compose project, or on every service of a swarm stack. One that
 * fails does not stop the others. The service's own container is left out of stop and restart, and
 * its result says so.
 *
 * @throws {AppError} `not_found`; `conflict` for a swarm stack on an engine that is no manager.
 * @throws {EngineUnreachableError} When the engine is away, so that nothing at all was done.
 */
export async function actOnStack(
  deps: ActionDeps,
  name: string,
  action: ContainerAction,
  kind?: StackKind,
): Promise<StackActionReport> {
  const stack = await findStack(deps, name, kind);
  const act = stack.kind === "swarm" ? actOnSwarm : actOnProject;
  const outcomes = await act(deps, stack, { action, operation: Symbol() });

  const away = outcomes.map(({ away }) => away);
  if (away.length > 0 && away.every((error) => error !== undefined)) throw away[0];
  const results = outcomes.map(({ result }) => result);
  return { ok: results.every(({ ok }) => ok), results };
}

interface Outcome {
  result: StackActionResult;
  /** Set when the engine could not be reached. */
  away?: EngineUnreachableError;
}

async function actOnProject(
  deps: ActionDeps,
  stack: Stack,
  stackAction: StackAction,
): Promise<Outcome[]> {
  const byName = new Map(stack.services.map((service) => [service.name, service]));
  const levels = startOrder(
    new Map(stack.services.map(({ name, dependencies }) => [
      name,
      dependencies.map(({ service }) => service),
    ])),
  );
  if (stackAction.action === "stop") levels.reverse();

  const deadline = performance.now() + CONDITIONS_MS;
  const outcomes: Outcome[] = [];
  for (const level of levels) {
    const services = level.map((name) =>
      actOnReplicas(deps, stack, byName.get(name)!, stackAction, deadline)
    );
    outcomes.push(...(await Promise.all(services)).flat());
  }
  return outcomes;
}

async function actOnReplicas(
  deps: ActionDeps,
  stack: Stack,
  { containers, dependencies }: StackService,
  stackAction: StackAction,
  deadline: number,
): Promise<Outcome[]> {
  const { action } = stackAction;
  let cleared: Promise<void> | undefined;
  return await Promise.all(containers.map((container) =>
    attempt(deps, container, async () => {
      const waits = action === "restart" || (action === "start" && container.state !== "running");
      if (waits) await (cleared ??= conditionsMet(deps, stack, dependencies, deadline));
      return await actOnMember(deps, container, stackAction);
    })
  ));
}

/** Acts on one container, which gets as long to stop as its own configuration says. */
async function actOnMember(
  deps: ActionDeps,
  container: Container,
  { action, operation }: StackAction,
): Promise<{ changed: boolean }> {
  if (action === "start") {
    // It runs, as we do.
    return container.self
      ? { changed: false }
      : await startContainer(deps, container.id, { operation });
  }
  assertNotOwn(container.self);
  const { Config } = await inspectContainer(deps, container.id);
  const own = Config.StopTimeout ?? STOP_TIMEOUT_S;
  const timeoutS = own < 0 ? STOP_TIMEOUT_MAX_S : Math.min(own, STOP_TIMEOUT_MAX_S);
  return action === "stop"
    ? await stopContainer(deps, container.id, { timeoutS, operation })
    : await restartContainer(deps, container.id, { timeoutS, operation });
}

async function actOnSwarm(
  deps: ActionDeps,
  stack: Stack,
  { action, operation }: StackAction,
): Promise<Outcome[]> {
  const managed = stack.services.flatMap(({ swarm, containers }) =>
    swarm ? [{ ...swarm, isOwn: containers.some(({ self }) => self) }] : []
  );
  if (managed.length === 0) {
    throw new AppError(
      "conflict",
      `${stack.name} is a stack of a swarm that this engine does not manage`,
    );
  }
  return await Promise.all(managed.map((service) =>
    attempt(deps, service, async () => {
      if (action !== "start") assertNotOwn(service.isOwn);
      using _ = deps.reservations.reserve(service, ACTIVITIES[action], { operation });
      return await actOnService(deps, service.id, action);
    })
  ));
}

function assertNotOwn(self: boolean): void {
  if (self) throw new AppError("forbidden", "This service itself runs here, so it was left out");
}

async function attempt(
  { log }: Pick<Deps, "log">,
  { id, name }: { id: string; name: string },
  act: () => Promise<{ changed: boolean }>,
): Promise<Outcome> {
  try {
    const { changed } = await act();
    return { result: { id, name, ok: true, changed, error: null } };
  } catch (error) {
    const known = asAppError(error);
    if (!known) log.error("stack action failed", { id, name, ...errorFields(error) });
    const message = known?.message ?? "Internal error";
    return {
      result: { id, name, ok: false, changed: false, error: message },
      ...(error instanceof EngineUnreachableError && { away: error }),
    };
  }
}

/**
 * Waits until the dependencies are as far as they are asked to be.
 *
 * @throws {AppError} `conflict` when they will not be, or are not in time.
 */
async function conditionsMet(
  deps: ActionDeps,
  stack: Stack,
  dependencies: readonly Dependency[],
  deadline: number,
): Promise<void> {
  for (const dependency of dependencies) {
    const service = stack.services.find(({ name }) => name === dependency.service);
    if (!service) continue;
    for (;;) {
      const progress = progressOf(await asItIsNow(deps, service), dependency.condition);
      if (progress === "met") break;
      if (progress === "failed" || performance.now() > deadline) throw obstacle(dependency);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
    }
  }
}

async function asItIsNow(deps: ReadDeps, service: StackService): Promise<StackService> {
  const ids = new Set(service.containers.map(({ id }) => id));
  const containers = (await currentContainers(deps)).filter(({ id }) => ids.has(id));
  return { ...service, containers };
}

/** How far a service is on its way to what is asked of it. */
function progressOf(
  service: StackService,
  condition: Dependency["condition"],
): "met" | "under way" | "failed" {
  const { containers } = service;
  switch (condition) {
    case "service_started":
      return "met";
    case "service_completed_successfully": {
      if (hasCompleted(service)) return "met";
      const isOver = ({ state, exitCode }: Container) =>
        !(isGoing(state) || (state === "exited" && exitCode === 0));
      return containers.length === 0 || containers.some(isOver) ? "failed" : "under way";
    }
    case "service_healthy": {
      // One without a health check can show no more than that it runs.
      const isHealthy = ({ state, health }: Container) =>
        state === "running" && (health === "healthy" || health === null);
      if (containers.length > 0 && containers.every(isHealthy)) return "met";
      const isFailing = ({ state, health }: Container) => !isGoing(state) || health === "unhealthy";
      return containers.length === 0 || containers.some(isFailing) ? "failed" : "under way";
    }
  }
}

const isGoing = (state: Container["state"]) => state === "running" || state === "restarting";

function obstacle({ service, condition }: Dependency): AppError {
  const state = condition === "service_healthy"
    ? "is not healthy"
    : "has not completed successfully";
  return new AppError("conflict", `It depends on ${service}, which ${state}`);
}
