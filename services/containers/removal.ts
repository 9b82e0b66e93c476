/** Removes containers. @module */

import { containerRemove } from "../../engine/containers.ts";
import { EngineError } from "../../engine/errors.ts";
import type { Scope } from "../access/scope.ts";
import type { Deps } from "../deps.ts";
import { AppError, notFound } from "../errors.ts";
import type { Container } from "./inventory.ts";
import { type ActionDeps, withExpectedDown } from "./actions.ts";
import { assertNotOwn } from "./own_container.ts";
import { isUp, knownContainers, refreshContainer, resolveContainer } from "./reads.ts";
import { reserveContainer } from "./reserve.ts";
import { assertDependentsInScope, dependentsOf } from "./share_group.ts";

interface RemovalOptions {
  /** Kills a running container first, and leaves dependent containers without their namespace. */
  force: boolean;
  /** Also removes its anonymous volumes. */
  volumes: boolean;
  /** The scope of the caller's API token, which must include the containers that depend on it. */
  scope?: Scope | undefined;
}

/**
 * Removes a container.
 *
 * @throws {AppError} `not_found`; `conflict` for the service's own container, while another action
 * is in progress, and without `force` for a container that is up or that others depend on.
 */
export async function removeContainer(
  deps: ActionDeps & Pick<Deps, "diskUsage" | "stats">,
  ref: string,
  options: RemovalOptions,
): Promise<{ ok: true; id: string; name: string }> {
  const container = await resolveContainer(deps, ref);
  const { id, name } = container;
  const all = await knownContainers(deps);
  assertNotOwn(container, "removed", all);
  assertDependentsInScope(options.scope, container, all);
  if (!options.force) assertNoDependents(container, all);

  using _ = reserveContainer(deps, container, "removed");
  const remove = () => removeOrExplain(deps, container, ref, options);
  await (isUp(container) ? withExpectedDown(deps, container, remove) : remove());
  // The engine's event may be late, but the next read must not show the container.
  deps.inventory.remove(id, deps.inventory.readNumber());
  deps.stats.remove(id);
  deps.diskUsage.invalidate();
  return { ok: true, id, name };
}

function assertNoDependents(container: Container, all: readonly Container[]): void {
  const dependents = dependentsOf(container, all).map(({ name }) => name);
  if (dependents.length === 0) return;
  throw new AppError(
    "conflict",
    `${dependents.join(", ")} cannot run without container ${container.name}; remove ` +
      `${dependents.length === 1 ? "it" : "them"} first, or use force`,
  );
}

async function removeOrExplain(
  deps: ActionDeps,
  { id, name }: Container,
  ref: string,
  options: RemovalOptions,
): Promise<void> {
  try {
    await containerRemove(deps.engine, id, options);
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    if (error.status === 404) {
      deps.inventory.remove(id, deps.inventory.readNumber());
      throw notFound("Container", ref);
    }
    if (error.status !== 409) throw error;
    const { now } = await refreshContainer(deps, id);
    if (!now || !(isUp(now) || now.state === "restarting")) throw error;
    const message = `Container ${name} is ${now.state}; stop it first, or use force`;
    throw new AppError("conflict", message, { cause: error });
  }
}
