/** Describes the container engine: version, host, resources and disk usage. @module */

import { EngineUnreachableError } from "../../../engine/errors.ts";
import { systemInfo } from "../../../engine/system.ts";
import type { Deps } from "../../deps.ts";
import { errorFields } from "../../log.ts";
import { type DiskBreakdown, readDiskBreakdown } from "../../storage/disk_usage.ts";

interface EngineInfo {
  /** Host name reported by the engine. */
  name: string;
  version: string;
  /** The API version in use. */
  apiVersion: string;
  os: string;
  kernel: string;
  architecture: string;
  cpus: number;
  memoryBytes: number;
  storageDriver: string;
  /** `"1"` or `"2"`; `null` if the engine does not report it. */
  cgroupVersion: string | null;
  /** inactive, pending, active, error or locked. */
  swarm: string;
  rootless: boolean;
  /** In every state. */
  containers: number;
  images: number;
  warnings: string[];
}

/** Longest wait for the disk usage, in milliseconds. */
const DISK_USAGE_WAIT_MS = 5_000;

/** @returns `diskUsage` is `null` if the engine takes longer than {@linkcode DISK_USAGE_WAIT_MS}. */
export async function describeEngine(
  deps: Pick<Deps, "diskUsage" | "engine" | "log">,
): Promise<{ info: EngineInfo; diskUsage: DiskBreakdown | null }> {
  const [info, diskUsage] = await Promise.all([
    engineInfo(deps),
    readDiskBreakdown(deps, { waitMs: DISK_USAGE_WAIT_MS }).catch((error) => {
      if (error instanceof EngineUnreachableError) throw error;
      deps.log.debug("disk usage unavailable", errorFields(error));
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
