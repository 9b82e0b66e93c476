/** Converts the engine's description of a container. @module */

import type { ContainerInspect, ContainerSummary } from "../../engine/containers.ts";
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
import type { Identity } from "./reservations.ts";
import { startErrorOf } from "./secret_values.ts";
import { NAME_MAX, shownName } from "./shown_labels.ts";
import type { TemporaryNames } from "./temporary_names.ts";
import { TOO_LARGE, warningOf } from "./unreadable.ts";
import { sharedContainer } from "../../engine/containers.ts";

/** Longest stored output of a health check, in characters. */
const HEALTH_OUTPUT_MAX = 4_096;

const SHORT_ID_LENGTH = 12;

/** The kernel's default, in microseconds. */
export const CPU_PERIOD_US = 100_000;

/** Podman's names of states that Docker names differently. */
const PODMAN_STATES: Record<string, ContainerState> = {
  configured: "created",
  initialized: "created",
  stopping: "running",
  stopped: "exited",
};

/** Facts about a container besides the engine's description. */
interface Known extends Pick<Container, "self" | "labels"> {
  /** Its own labels; see `own_labels.ts`. */
  labels: Container["labels"];
  temporary: TemporaryNames;
}

export function toContainer(
  inspect: ContainerInspect,
  { self, labels, temporary }: Known,
): Container {
  const { State, Config, NetworkSettings } = inspect;
  const state = stateOf(State.Status);
  return {
    id: inspect.Id,
    ...named({ id: inspect.Id, name: inspect.Name }, { labels, temporary }, warningOf(inspect)),
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
    attachments: attachmentsOf(inspect),
    shares: sharedBy(inspect.HostConfig),
    links: (inspect.HostConfig.Links ?? []).map((link) => link.split(":")[0]!.replace(/^\//, "")),
    volumes: volumesOf(inspect.Mounts),
    self,
    details: detailsOf(inspect),
  };
}

/** Fields that follow from names and labels. */
function named(
  { id, name: engineName }: Identity,
  { labels, temporary }: Pick<Known, "labels" | "temporary">,
  warning: string | null,
): Pick<
  Container,
  "name" | "originalName" | "labels" | "composeProject" | "composeService" | "warning"
> {
  const name = engineName.replace(/^\//, "");
  const shown = shownName(name);
  const short = (label: string | undefined) =>
    label !== undefined && label.length <= NAME_MAX ? label : null;
  return {
    name: shown,
    originalName: temporary.originalOf({ id, name: shown }),
    labels,
    composeProject: short(labels["com.docker.compose.project"]),
    composeService: short(labels["com.docker.compose.service"]),
    warning: warning ?? (name.length > NAME_MAX ? TOO_LARGE : null),
  };
}

const NO_DETAILS: ContainerDetails = {
  command: [],
  entrypoint: [],
  workingDir: "",
  user: "",
  env: [],
  mounts: [],
  networkSettings: [],
  restartPolicy: { name: "", maximumRetryCount: 0 },
  stopSignal: "SIGTERM",
  limits: { memoryBytes: null, memorySwapBytes: null, cpus: null, pids: null },
  oomKilled: false,
  error: "",
  healthLog: [],
};

/**
 * Converts an entry of the engine's list, if the engine does not describe the container.
 *
 * @param warning Says so.
 */
export function toListedContainer(
  listed: Pick<ContainerSummary, "Id"> & Partial<ContainerSummary>,
  { self, labels, temporary, warning }: Known & { warning: string },
): Container {
  const { Id, Names, Image = "", ImageID = "", State = "", Status = "", Health, Mounts } = listed;
  const exitCode = /^(?:Exited|Restarting) \((\d{1,3})\)/.exec(Status)?.[1];
  return {
    id: Id,
    ...named(
      { id: Id, name: Names?.[0] ?? Id.slice(0, SHORT_ID_LENGTH) },
      { labels, temporary },
      warning,
    ),
    image: Image,
    imageId: ImageID && fullImageId(ImageID),
    state: stateOf(State),
    health: healthOf(Health?.Status ?? /\((?:health: )?(\w+)\)$/.exec(Status)?.[1]),
    createdAt: engineTime(listed.Created),
    startedAt: null,
    finishedAt: null,
    exitCode: exitCode === undefined ? null : Number(exitCode),
    restartCount: 0,
    ports: [],
    attachments: attachmentsOf(listed),
    shares: sharedBy(listed.HostConfig ?? {}),
    links: [],
    volumes: volumesOf(Mounts),
    self,
    details: NO_DETAILS,
  };
}

const volumesOf = (mounts: ContainerInspect["Mounts"] | undefined): string[] =>
  (mounts ?? []).flatMap(({ Type, Name }) => Type === "volume" && Name ? [Name] : []);

export const attachmentsOf = (
  { NetworkSettings }: Partial<Pick<ContainerSummary, "NetworkSettings">>,
): Container["attachments"] =>
  Object.entries(NetworkSettings?.Networks ?? {}).map(([network, settings]) => ({
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
    error: startErrorOf(inspect),
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
