/** Limits and the restart policy of a container, changed without a restart. @module */

import type { Engine } from "./client.ts";
import type { HostConfig } from "./container_config.ts";
import { segment } from "./path.ts";
import { type Signal, withMargin } from "./query.ts";

/** Fields that are missing or 0 stay as they are. */
export type ContainerUpdateBody = Pick<
  HostConfig,
  | "CpuPeriod"
  | "CpuQuota"
  | "Memory"
  | "MemorySwap"
  | "NanoCpus"
  | "PidsLimit"
  | "RestartPolicy"
>;

/**
 * Changes limits and the restart policy.
 *
 * @throws {EngineError} 404 if the container does not exist, and on Podman 4, which has no such
 * operation; 400 and 409 for values that the engine refuses; 500 for those that the kernel refuses.
 */
export async function containerUpdate(
  engine: Engine,
  id: string,
  { body, signal }: { body: ContainerUpdateBody } & Signal,
): Promise<void> {
  const path = `/containers/${segment("container", id)}/update` as const;
  await engine.send("POST", path, {
    body,
    signal,
    long: true,
    headTimeoutMs: withMargin(60),
  });
}
