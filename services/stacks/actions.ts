/**
 * Starts, stops and restarts stacks.
 *
 * The services of a compose project are started in the order of their dependencies and stopped in
 * reverse order; independent services in parallel. As with compose, a service waits until its
 * dependencies are healthy or have completed, if it requires that. A start or restart of a stack
 * that is up does not run finished containers again.
 *
 * @module
 */

import { EngineUnreachableError } from "../../engine/errors.ts";
import type { Deps } from "../deps.ts";
import { AppError, messageFor } from "../errors.ts";
import { sleep } from "../waiting.ts";
import type { Container } from "../containers/inventory.ts";
import type { Operation } from "../containers/reservations.ts";
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
import { type Dependency, startOrder } from "../containers/order.ts";
import { findStack, finishedContainers, hasCompleted } from "./stacks.ts";
import type { RegistryAccessDeps } from "../images/registries/access.ts";
import { actOnService } from "../swarm/actions.ts";

/** The result for one container or one swarm service. */
interface StackActionResult {
  id: string;
  name: string;
  ok: boolean;
  /** `false` if it was in the desired state already. */
  changed: boolean;
  error: string | null;
}

export interface StackActionReport {
  /** Whether every action succeeded. */
  ok: boolean;
  results: StackActionResult[];
}

type ActionDeps = ContainerActionDeps & RegistryAccessDeps & Pick<Deps, "swarm">;

/** An action on a stack. */
interface StackAction {
  action: ContainerAction;
  operation: Operation;
  only: ReadonlySet<string> | undefined;
}

interface StackActionOptions {
  kind?: StackKind | undefined;
  /** Ids of the containers that it acts on. Default: all. */
  only?: ReadonlySet<string>;
  /** The operation that the action belongs to; see `reservations.ts`. */
  operation?: Operation;
}

/** Longest wait of an action for all dependencies, in milliseconds. */
const CONDITIONS_MS = 120_000;

/** Poll interval of dependencies, in milliseconds. */
const POLL_MS = 100;

/** Limit of a container's own stop timeout, in seconds. */
const STOP_TIMEOUT_MAX_S = 300;

/**
 * Acts on every container of a compose project, or on every service of a swarm stack. A failure
 * does not stop the others. This service's own container is neither stopped nor restarted; its
 * result is an error.
 *
 * @throws {AppError} `not_found`; `conflict` for a stack without containers, and for a swarm stack on
 * an engine that is not a manager.
 * @throws {EngineUnreachableError} If the engine was unreachable for every part of the stack.
 */
export async function actOnStack(
  deps: ActionDeps,
  name: string,
  action: ContainerAction,
  { kind, only, operation = Symbol() }: StackActionOptions = {},
): Promise<StackActionReport> {
  const stack = await findStack(deps, name, kind);
  if (stack.services.length === 0) {
    throw new AppError("conflict", `Stack ${name} has no containers; deploy it first`);
  }
  const act = stack.kind === "swarm" ? actOnSwarm : actOnProject;
  const outcomes = await act(deps, stack, { action, operation, only });

  const causes = outcomes.map(({ unreachable }) => unreachable);
  if (causes.length > 0 && causes.every((cause) => cause !== undefined)) throw causes[0];
  const results = outcomes.map(({ result }) => result);
  return { ok: results.every(({ ok }) => ok), results };
}

interface Outcome {
  result: StackActionResult;
  /** Set if the engine could not be reached. */
  unreachable?: EngineUnreachableError;
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
  // Chosen containers are acted on in any case, e.g. a database that ended with 0 when it was stopped.
  const isAll = stackAction.only === undefined;
  const finished = stackAction.action !== "stop" && isAll ? finishedContainers(stack) : new Set();
  const act = (service: StackService) =>
    actOnReplicas(deps, stack, service, stackAction, { deadline, finished });
  const outcomes: Outcome[] = [];
  for (const level of levels) {
    const services = level.map((name) => act(byName.get(name)!));
    outcomes.push(...(await Promise.all(services)).flat());
  }
  return outcomes;
}

async function actOnReplicas(
  deps: ActionDeps,
  stack: Stack,
  { containers, dependencies }: StackService,
  stackAction: StackAction,
  { deadline, finished }: { deadline: number; finished: ReadonlySet<unknown> },
): Promise<Outcome[]> {
  const { action, only } = stackAction;
  let ready: Promise<void> | undefined;
  const chosen = containers.filter(({ id }) => only?.has(id) ?? true);
  return await Promise.all(chosen.map((container) =>
    runAction(deps, container, async () => {
      if (finished.has(container)) return { changed: false };
      const starts = action === "restart" || (action === "start" && container.state !== "running");
      if (starts) await (ready ??= waitForDependencies(deps, stack, dependencies, deadline));
      return await actOnMember(deps, container, stackAction);
    })
  ));
}

/** Acts on one container. Its own stop timeout applies. */
async function actOnMember(
  deps: ActionDeps,
  container: Container,
  { action, operation }: StackAction,
): Promise<{ changed: boolean }> {
  if (action === "start") {
    return container.self // which is running
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
      `Stack ${stack.name} belongs to a swarm that this engine does not manage`,
    );
  }
  return await Promise.all(managed.map((service) =>
    runAction(deps, service, async () => {
      if (action !== "start") assertNotOwn(service.isOwn);
      using _ = deps.reservations.reserve(service, ACTIVITIES[action], { operation });
      return await actOnService(deps, service.id, action);
    })
  ));
}

function assertNotOwn(self: boolean): void {
  if (self) throw new AppError("forbidden", "Skipped because Longshore itself runs here");
}

async function runAction(
  { log }: Pick<Deps, "log">,
  { id, name }: { id: string; name: string },
  act: () => Promise<{ changed: boolean }>,
): Promise<Outcome> {
  try {
    const { changed } = await act();
    return { result: { id, name, ok: true, changed, error: null } };
  } catch (error) {
    const message = messageFor(log, error, "stack action failed", { id, name });
    return {
      result: { id, name, ok: false, changed: false, error: message },
      ...(error instanceof EngineUnreachableError && { unreachable: error }),
    };
  }
}

/**
 * Waits until the dependencies meet their conditions.
 *
 * @throws {AppError} `conflict` if a dependency fails or takes too long.
 */
async function waitForDependencies(
  deps: ActionDeps,
  stack: Stack,
  dependencies: readonly Dependency[],
  deadline: number,
): Promise<void> {
  for (const dependency of dependencies) {
    const service = stack.services.find(({ name }) => name === dependency.service);
    if (!service) continue;
    for (;;) {
      const progress = progressOf(await refreshService(deps, service), dependency.condition);
      if (progress === "met") break;
      if (progress === "failed" || performance.now() > deadline) throw unmetError(dependency);
      await sleep(POLL_MS);
    }
  }
}

async function refreshService(deps: ReadDeps, service: StackService): Promise<StackService> {
  const ids = new Set(service.containers.map(({ id }) => id));
  const containers = (await currentContainers(deps)).filter(({ id }) => ids.has(id));
  return { ...service, containers };
}

/** Progress of a service towards a condition. */
export function progressOf(
  service: Pick<StackService, "containers">,
  condition: Dependency["condition"],
): "met" | "pending" | "failed" {
  const { containers } = service;
  switch (condition) {
    case "service_started":
      return "met";
    case "service_completed_successfully": {
      if (hasCompleted(service)) return "met";
      const hasFailed = ({ state, exitCode }: Container) =>
        !(isUp(state) || (state === "exited" && exitCode === 0));
      return containers.length === 0 || containers.some(hasFailed) ? "failed" : "pending";
    }
    case "service_healthy": {
      // Without a health check a running container counts as healthy.
      const isHealthy = ({ state, health }: Container) =>
        state === "running" && (health === "healthy" || health === null);
      if (containers.length > 0 && containers.every(isHealthy)) return "met";
      const isFailing = ({ state, health }: Container) => !isUp(state) || health === "unhealthy";
      return containers.length === 0 || containers.some(isFailing) ? "failed" : "pending";
    }
  }
}

const isUp = (state: Container["state"]) => state === "running" || state === "restarting";

function unmetError({ service, condition }: Dependency): AppError {
  const state = condition === "service_healthy"
    ? "is not healthy"
    : "has not completed successfully";
  return new AppError("conflict", `Dependency ${service} ${state}`);
}
