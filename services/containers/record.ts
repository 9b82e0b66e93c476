/** Converts the engine's description of a container. @module */

import type { ContainerInspect } from "../../engine/containers.ts";
import { fullImageId } from "../../engine/image_id.ts";
import {
  type Container,
  CONTAINER_STATES,
  type ContainerDetails,
  type ContainerHealth,
  type ContainerPort,
  type ContainerState,
} from "./inventory.ts";
import { engineTime } from "./engine_time.ts";
import { hideValues, valuesOf } from "./secret_values.ts";
import { sharedContainer } from "../../engine/containers.ts";

/** Longest stored output of a health check, in characters. */
const HEALTH_OUTPUT_MAX = 4_096;

/** The kernel's default, in microseconds. */
export const CPU_PERIOD_US = 100_000;

/** Podman's names of states that Docker names differently. */
const PODMAN_STATES: Record<string, ContainerState> = {
  configured: "created",
  initialized: "created",
  stopping: "running",
  stopped: "exited",
};

/** @param labels Its own; see `own_labels.ts`. */
export function toContainer(
  inspect: ContainerInspect,
  { self, labels }: Pick<Container, "self" | "labels">,
): Container {
  const { State, Config, NetworkSettings } = inspect;
  const state = stateOf(State.Status);
  return {
    id: inspect.Id,
    name: inspect.Name.replace(/^\//, ""),
    image: Config.Image ?? inspect.Image,
    imageId: fullImageId(inspect.Image),
    state,
    health: healthOf(State.Health?.Status),
    createdAt: engineTime(inspect.Created),
    startedAt: engineTime(State.StartedAt),
    finishedAt: engineTime(State.FinishedAt),
    exitCode: ["created", "running", "paused"].includes(state) ? null : State.ExitCode,
    restartCount: inspect.RestartCount ?? 0,
    ports: portsOf(NetworkSettings),
    labels,
    composeProject: labels["com.docker.compose.project"] ?? null,
    composeService: labels["com.docker.compose.service"] ?? null,
    attachments: attachmentsOf(inspect),
    shares: sharedBy(inspect.HostConfig),
    links: (inspect.HostConfig.Links ?? []).map((link) => link.split(":")[0]!.replace(/^\//, "")),
    volumes: (inspect.Mounts ?? []).flatMap(({ Type, Name }) =>
      Type === "volume" && Name ? [Name] : []
    ),
    self,
    details: detailsOf(inspect),
  };
}

export const attachmentsOf = (
  { NetworkSettings }: Pick<ContainerInspect, "NetworkSettings">,
): Container["attachments"] =>
  Object.entries(NetworkSettings.Networks ?? {}).map(([network, settings]) => ({
    networkId: settings.NetworkID ?? "",
    network,
    ipv4: settings.IPAddress ?? "",
    ipv6: settings.GlobalIPv6Address ?? "",
    mac: settings.MacAddress ?? "",
  }));

function sharedBy({ NetworkMode, IpcMode, PidMode }: ContainerInspect["HostConfig"]): string[] {
  return [NetworkMode, IpcMode, PidMode].flatMap((mode) => sharedContainer(mode) ?? []);
}

function detailsOf(inspect: ContainerInspect): ContainerDetails {
  const { Config, HostConfig, NetworkSettings, State } = inspect;
  return {
    command: Config.Cmd ?? [],
    entrypoint: Config.Entrypoint ?? [],
    workingDir: Config.WorkingDir ?? "",
    user: Config.User ?? "",
    env: (Config.Env ?? []).map(parseVariable),
    mounts: (inspect.Mounts ?? []).map(({ Type, Name, Source, Destination, RW }) => ({
      type: Type || "bind",
      name: Name || null,
      source: Source ?? "",
      destination: Destination,
      readOnly: RW === false,
    })),
    networkSettings: Object.entries(NetworkSettings.Networks ?? {}).map(([name, settings]) => ({
      name,
      networkId: settings.NetworkID ?? "",
      ipv4: settings.IPAddress ?? "",
      ipv6: settings.GlobalIPv6Address ?? "",
      gateway: settings.Gateway ?? "",
      mac: settings.MacAddress ?? "",
      aliases: settings.Aliases ?? [],
    })),
    restartPolicy: {
      name: HostConfig.RestartPolicy?.Name ?? "",
      maximumRetryCount: HostConfig.RestartPolicy?.MaximumRetryCount ?? 0,
    },
    stopSignal: Config.StopSignal || "SIGTERM",
    limits: limitsOf(HostConfig),
    oomKilled: State.OOMKilled ?? false,
    error: State.Error ? hideValues(State.Error, valuesOf(inspect)) : "",
    healthLog: (State.Health?.Log ?? []).map(({ Start, End, ExitCode, Output }) => ({
      startedAt: engineTime(Start),
      endedAt: engineTime(End),
      exitCode: ExitCode,
      output: Output.slice(0, HEALTH_OUTPUT_MAX),
    })),
  };
}

/** Parses `NAME=value`. A name without a value removes the variable from the environment. */
export function parseVariable(entry: string): { name: string; value: string } {
  const at = entry.indexOf("=");
  return at < 0
    ? { name: entry, value: "" }
    : { name: entry.slice(0, at), value: entry.slice(at + 1) };
}

/** New clients store `--cpus` as billionths of a core, old ones as quota and period. */
function limitsOf({
  Memory = 0,
  MemorySwap = 0,
  NanoCpus = 0,
  CpuQuota = 0,
  CpuPeriod = 0,
  PidsLimit,
}: ContainerInspect["HostConfig"]): ContainerDetails["limits"] {
  const quota = CpuQuota > 0 ? CpuQuota / (CpuPeriod || CPU_PERIOD_US) : null;
  return {
    memoryBytes: Memory > 0 ? Memory : null,
    memorySwapBytes: MemorySwap > 0 ? MemorySwap : null,
    cpus: NanoCpus > 0 ? NanoCpus / 1e9 : quota,
    pids: PidsLimit && PidsLimit > 0 ? PidsLimit : null,
  };
}

function stateOf(status: string): ContainerState {
  const known = CONTAINER_STATES.find((state) => state === status);
  return known ?? PODMAN_STATES[status] ?? "dead";
}

function healthOf(status: string | undefined): ContainerHealth | null {
  return status === "starting" || status === "healthy" || status === "unhealthy" ? status : null;
}

/** Converts `{"80/tcp": [{HostIp, HostPort}], "90/udp": null}`; null is exposed but not published. */
function portsOf({ Ports }: ContainerInspect["NetworkSettings"]): ContainerPort[] {
  return Object.entries(Ports ?? {}).flatMap(([port, bindings]) => {
    const [number, type = "tcp"] = port.split("/");
    const exposed = { ip: null, privatePort: Number(number), publicPort: null, type };
    if (!bindings?.length) return [exposed];
    return bindings.map(({ HostIp, HostPort }) => ({
      ...exposed,
      ip: HostIp || null,
      publicPort: HostPort ? Number(HostPort) : null,
    }));
  });
}
