/** Changes resource limits and the restart policy of containers without a restart. @module */

import type { HostConfig } from "../../engine/containers.ts";
import type { ContainerUpdateBody } from "../../engine/container_update.ts";
import { EngineError, RefusedCallError } from "../../engine/errors.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import type { ActionDeps } from "./actions.ts";
import { forgetPolicy } from "./left_stopped.ts";
import { assertNotOwn } from "./own_container.ts";
import { inspectContainer, refreshContainer, resolveContainer } from "./reads.ts";
import { reconfigure } from "./reconfigure.ts";
import { CPU_PERIOD_US } from "./record.ts";
import { reserveContainer } from "./reserve.ts";

export const RESTART_POLICIES = ["no", "always", "unless-stopped", "on-failure"] as const;

/** Missing fields stay as they are. */
interface LimitChange {
  /** Cores, e.g. 0.5. */
  cpus?: number | undefined;
  memoryBytes?: number | undefined;
  /** Memory and swap together; -1 is unlimited. */
  memorySwapBytes?: number | undefined;
  /** -1 is unlimited. */
  pidsLimit?: number | undefined;
  restartPolicy?: {
    name: typeof RESTART_POLICIES[number];
    /** Only with `on-failure`; 0 is unlimited. */
    maximumRetryCount?: number | undefined;
  } | undefined;
}

/**
 * Changes limits of a container. Without `memorySwapBytes`, the amount of swap stays the same when
 * the memory changes.
 *
 * @returns Its full id.
 * @throws {AppError} `not_found`; `invalid` for values that do not fit together or that the engine
 * refuses; `conflict` for the service's own container, while another action is in progress, if the
 * kernel refuses, and on engines that cannot change limits.
 */
export async function changeLimits(
  deps: ActionDeps,
  ref: string,
  change: LimitChange,
): Promise<string> {
  const container = await resolveContainer(deps, ref);
  assertNotOwn(container, "updated");
  using _ = reserveContainer(deps, container, "updated");
  const { HostConfig } = await inspectContainer(deps, container.id);
  await updateOrConflict(deps, container.id, {
    ...cpuUpdate(HostConfig, change),
    ...memoryUpdate(HostConfig, change),
    ...(change.pidsLimit !== undefined && { PidsLimit: change.pidsLimit }),
    ...(change.restartPolicy && { RestartPolicy: policyOf(change.restartPolicy) }),
  });
  if (change.restartPolicy) forgetPolicy(deps.db, container.id);
  await refreshContainer(deps, container.id);
  return container.id;
}

/** The engine refuses `NanoCpus` for a container that was created with a quota. */
function cpuUpdate(
  { CpuPeriod = 0, CpuQuota = 0 }: HostConfig,
  { cpus }: LimitChange,
): ContainerUpdateBody {
  if (cpus === undefined) return {};
  if (CpuPeriod <= 0 && CpuQuota <= 0) return { NanoCpus: Math.round(cpus * 1e9) };
  const period = CpuPeriod > 0 ? CpuPeriod : CPU_PERIOD_US;
  return { CpuPeriod: period, CpuQuota: Math.round(cpus * period) };
}

/** Always sends both values, because the engine refuses memory above the current total. */
function memoryUpdate(
  { Memory = 0, MemorySwap = 0 }: HostConfig,
  { memoryBytes, memorySwapBytes }: LimitChange,
): ContainerUpdateBody {
  if (memoryBytes === undefined && memorySwapBytes === undefined) return {};
  const memory = memoryBytes ?? Memory;
  if (memory <= 0) {
    throw new AppError("invalid", "body.memorySwapBytes: requires a memory limit");
  }
  const total = memorySwapBytes ?? totalWithSameSwap(memory, { Memory, MemorySwap });
  if (total !== UNLIMITED && total < memory) {
    throw new AppError(
      "invalid",
      `body.memorySwapBytes: must be at least the memory limit (${memory}), because it includes memory`,
    );
  }
  return { Memory: memory, MemorySwap: total };
}

const UNLIMITED = -1;

/** Without a limit so far, the total is twice the memory, as for a new container. */
function totalWithSameSwap(
  memory: number,
  { Memory, MemorySwap }: { Memory: number; MemorySwap: number },
): number {
  if (MemorySwap < 0) return UNLIMITED;
  return Memory > 0 && MemorySwap >= Memory ? memory + MemorySwap - Memory : 2 * memory;
}

function policyOf({ name, maximumRetryCount = 0 }: NonNullable<LimitChange["restartPolicy"]>) {
  if (name !== "on-failure" && maximumRetryCount > 0) {
    throw new AppError(
      "invalid",
      "body.restartPolicy.maximumRetryCount: only the policy on-failure has one",
    );
  }
  return { Name: name, MaximumRetryCount: maximumRetryCount };
}

async function updateOrConflict(
  { engine }: Pick<Deps, "engine">,
  id: string,
  body: ContainerUpdateBody,
): Promise<void> {
  try {
    if (await reconfigure(engine, id, body)) return;
  } catch (error) {
    if (error instanceof RefusedCallError) throw error;
    // E.g. a memory limit below what the container uses.
    if (error instanceof EngineError && error.status >= 500) {
      throw new AppError("conflict", error.message, { cause: error });
    }
    throw error;
  }
  throw new AppError("conflict", "This engine cannot change the limits of a container");
}
