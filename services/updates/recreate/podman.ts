/** Descriptions of Podman that a request to create a container cannot repeat. @module */

import type { ContainerInspect, HostConfig } from "../../../engine/containers.ts";

const PREFIX = "RLIMIT_";

/**
 * The values of both limits that Podman sets by itself: its own constant, and the usual maximum of
 * process ids of a host (`/proc/sys/kernel/pid_max`).
 */
const DEFAULT_LIMITS = [1_048_576, 32_768, 4_194_304];

/** Limits as a request names them: `nofile` instead of Podman's `RLIMIT_NOFILE`. */
export function ulimitRequests(described: HostConfig["Ulimits"]): HostConfig["Ulimits"] {
  // Left to the engine, so that they follow a changed default. With a single limit of its own in the
  // request, Podman would set the other one to another default.
  if (described?.every(isDefault)) return [];
  return described?.map(({ Name = "", ...limit }) => ({
    ...limit,
    Name: Name.startsWith(PREFIX) ? Name.slice(PREFIX.length).toLowerCase() : Name,
  }));
}

const isDefault = ({ Name, Soft, Hard }: { Name?: string; Soft?: number; Hard?: number }) =>
  (Name === "RLIMIT_NOFILE" || Name === "RLIMIT_NPROC") && Soft === Hard &&
  DEFAULT_LIMITS.includes(Soft ?? 0);

/** Period into which Podman divides processor time if processors are limited, in microseconds. */
const CPU_PERIOD = 100_000;

/**
 * Limits of processor time in one of their two forms: Podman describes both, and refuses both. Without
 * a period of its own, they were probably given as processors.
 */
export function cpuRequests(
  { NanoCpus = 0, CpuPeriod = 0, CpuQuota = 0 }: HostConfig,
): Pick<HostConfig, "NanoCpus" | "CpuPeriod" | "CpuQuota"> {
  if (NanoCpus === 0 || CpuQuota === 0) return {};
  return CpuPeriod === CPU_PERIOD
    ? { NanoCpus, CpuPeriod: 0, CpuQuota: 0 }
    : { NanoCpus: 0, CpuPeriod, CpuQuota };
}

/** The control group of a pod, by either manager of control groups. */
const POD_CGROUP = /(?:^|[/_-])libpod_(?:parent\/|pod_)[0-9a-f]{64}(?:\.slice)?$/;

/** Whether the container is in a pod. Docker's API can neither describe nor create such a one. */
export function isInPod({ HostConfig }: ContainerInspect): boolean {
  const { CgroupParent = "", IpcMode, NetworkMode, UTSMode } = HostConfig;
  // Docker shares no host name between containers, and a pod shares more than that.
  const sharesName = /^container:/.test(UTSMode ?? "") &&
    (UTSMode === NetworkMode || UTSMode === IpcMode);
  return sharesName || POD_CGROUP.test(CgroupParent);
}

/** Why a container of a pod is not replaced. */
export const inPodText = (name: string) =>
  `${name} is in a pod of Podman, and the engine's API cannot create a container in a pod; ` +
  "recreate it with podman";
