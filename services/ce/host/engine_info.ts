/**
 * The container engine described: what it is, what it runs on, and what it occupies.
 *
 * @module
 */

import { EngineUnreachableError } from "../../../engine/errors.ts";
import { systemInfo } from "../../../engine/system.ts";
import type { Deps } from "../../deps.ts";
import { errorFields } from "../../log.ts";
import { type DiskBreakdown, readDiskBreakdown } from "../storage/disk_usage.ts";

export interface EngineInfo {
  /** Host name as the engine knows it. */
  name: string;
  version: string;
  /** The version of its API that is spoken with it. */
  apiVersion: string;
  os: string;
  kernel: string;
  architecture: string;
  cpus: number;
  memoryBytes: number;
  storageDriver: string;
  /** `"1"` or `"2"`; `null` on engines that do not tell. */
  cgroupVersion: string | null;
  /** inactive, pending, active, error or locked. */
  swarm: string;
  rootless: boolean;
  /** In every state. */
  containers: number;
  images: number;
  warnings: string[];
}

/** How long the description waits for the disk use, in milliseconds. */
const DISK_USAGE_WAIT_MS = 5_000;

/** @returns `diskUsage` is `null` when the engine does not get done with it in some seconds. */
export async function describeEngine(
  deps: Pick<Deps, "diskUsage" | "engine" | "log">,
): Promise<{ info: EngineInfo; diskUsage: DiskBreakdown | null }> {
  const [info, diskUsage] = await Promise.all([
    engineInfo(deps),
    readDiskBreakdown(deps, { waitMs: DISK_USAGE_WAIT_MS }).catch((error) => {
      if (error instanceof EngineUnreachableError) throw error;
      deps.log.debug("no disk usage", errorFields(error));
      return null;
    }),
  ]);
  return { info, diskUsage };
}

async function engineInfo({ engine }: Pick<Deps, "engine">): Promise<EngineInfo> {
  const info = await systemInfo(engine);
  return {
    name: info.Name,
    version: info.ServerVersion ?? "",
    apiVersion: engine.apiVersion ?? "",
    os: info.OperatingSystem ?? "",
    kernel: info.KernelVersion ?? "",
    architecture: info.Architecture ?? "",
    cpus: info.NCPU,
    memoryBytes: info.MemTotal,
    storageDriver: info.Driver ?? "",
    cgroupVersion: info.CgroupVersion ?? null,
    swarm: info.Swarm?.LocalNodeState || "inactive",
    rootless: info.SecurityOptions?.some((option) => /(^|,)name=rootless(,|$)/.test(option)) ??
      false,
    containers: info.Containers,
    images: info.Images,
    warnings: info.Warnings ?? [],
  };
}
