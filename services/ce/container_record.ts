/**
 * From the engine's description of a container to ours.
 *
 * @module
 */

import type { ContainerInspect } from "../../engine/containers.ts";
import {
  type Container,
  CONTAINER_STATES,
  type ContainerHealth,
  type ContainerPort,
  type ContainerState,
} from "../inventory.ts";

/** The engine writes a time that never came as the year 1. */
const NEVER = "0001-01-01T00:00:00Z";

/** What Podman calls a state that Docker has under another name. */
const PODMAN_STATES: Record<string, ContainerState> = {
  configured: "created",
  initialized: "created",
  stopping: "running",
  stopped: "exited",
};

export function toContainer(inspect: ContainerInspect, self: boolean): Container {
  const { State, Config, NetworkSettings } = inspect;
  const labels = Config.Labels ?? {};
  const state = stateOf(State.Status);
  return {
    id: inspect.Id,
    name: inspect.Name.replace(/^\//, ""),
    image: Config.Image ?? inspect.Image,
    imageId: inspect.Image.includes(":") ? inspect.Image : `sha256:${inspect.Image}`,
    state,
    health: healthOf(State.Health?.Status),
    createdAt: timeOf(inspect.Created) ?? new Date(0).toISOString(),
    startedAt: timeOf(State.StartedAt),
    finishedAt: timeOf(State.FinishedAt),
    exitCode: ["created", "running", "paused"].includes(state) ? null : State.ExitCode,
    restartCount: inspect.RestartCount ?? 0,
    ports: portsOf(NetworkSettings),
    labels,
    composeProject: labels["com.docker.compose.project"] ?? null,
    composeService: labels["com.docker.compose.service"] ?? null,
    attachments: Object.entries(NetworkSettings.Networks ?? {}).map(([network, settings]) => ({
      networkId: settings.NetworkID ?? "",
      network,
      ipv4: settings.IPAddress ?? "",
      ipv6: settings.GlobalIPv6Address ?? "",
      mac: settings.MacAddress ?? "",
    })),
    volumes: (inspect.Mounts ?? []).flatMap(({ Type, Name }) =>
      Type === "volume" && Name ? [Name] : []
    ),
    self,
  };
}

/** ISO 8601 with milliseconds in UTC; `null` for the engine's "never". */
export function timeOf(text: string | undefined): string | null {
  if (!text || text === NEVER) return null;
  const time = new Date(text);
  return Number.isNaN(time.getTime()) || time.getUTCFullYear() <= 1 ? null : time.toISOString();
}

function stateOf(status: string): ContainerState {
  const known = CONTAINER_STATES.find((state) => state === status);
  return known ?? PODMAN_STATES[status] ?? "dead";
}

/** Compared whole: "unhealthy" contains "healthy". */
function healthOf(status: string | undefined): ContainerHealth | null {
  return status === "starting" || status === "healthy" || status === "unhealthy" ? status : null;
}

/** `{"80/tcp": [{HostIp, HostPort}], "90/udp": null}`; null is exposed, but not published. */
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
