/**
 * Everything about one container that is worth showing.
 *
 * @module
 */

import type { ContainerInspect } from "../../engine/containers.ts";
import { type Caller, includesRole } from "../caller.ts";
import type { Deps } from "../deps.ts";
import type { ContainerStats } from "../stats_board.ts";
import { REDACTED } from "../redact.ts";
import { asContainer, inspectContainer, type ReadDeps } from "./container_reads.ts";
import { timeOf } from "./container_record.ts";
import { type ContainerListItem, listItem } from "./containers.ts";

export interface ContainerDetail extends ContainerListItem {
  command: string[];
  entrypoint: string[];
  workingDir: string;
  user: string;
  /** Values are shown to admins only: passwords live here. */
  env: { name: string; value: string }[];
  mounts: {
    type: string;
    name: string | null;
    source: string;
    destination: string;
    readOnly: boolean;
  }[];
  networkSettings: {
    name: string;
    networkId: string;
    ipv4: string;
    ipv6: string;
    gateway: string;
    mac: string;
    aliases: string[];
  }[];
  restartPolicy: { name: string; maximumRetryCount: number };
  /** `null` is no limit. */
  limits: { memoryBytes: number | null; cpus: number | null; pids: number | null };
  finishedAt: string | null;
  oomKilled: boolean;
  /** What the engine said when it could not start. */
  error: string;
  healthLog: {
    startedAt: string | null;
    endedAt: string | null;
    exitCode: number;
    output: string;
  }[];
  /** The last sample; `null` unless running. */
  stats: ContainerStats | null;
}

/** Longest output of a health check that is shown, in characters. */
const HEALTH_OUTPUT_MAX = 4_096;

/**
 * One container, asked for at the engine now, with its last stats. Looking at it keeps it sampled.
 *
 * @throws {AppError} `not_found`; `invalid` for a prefix of several ids.
 */
export async function getContainer(
  deps: ReadDeps & Pick<Deps, "now" | "stats">,
  ref: string,
  caller: Pick<Caller, "role">,
): Promise<ContainerDetail> {
  const inspect = await inspectContainer(deps, ref);
  const container = asContainer(deps, inspect);
  const running = container.state === "running";
  if (running) deps.stats.want(container.id);

  const { Config, HostConfig, State } = inspect;
  return {
    ...listItem(container, deps.now()),
    command: Config.Cmd ?? [],
    entrypoint: Config.Entrypoint ?? [],
    workingDir: Config.WorkingDir ?? "",
    user: Config.User ?? "",
    env: (Config.Env ?? []).map((entry) => variable(entry, includesRole(caller.role, "admin"))),
    mounts: mountsOf(inspect),
    networkSettings: networkSettingsOf(inspect),
    restartPolicy: {
      name: HostConfig.RestartPolicy?.Name || "no",
      maximumRetryCount: HostConfig.RestartPolicy?.MaximumRetryCount ?? 0,
    },
    limits: limitsOf(inspect),
    finishedAt: timeOf(State.FinishedAt),
    oomKilled: State.OOMKilled,
    error: State.Error,
    healthLog: (State.Health?.Log ?? []).map(({ Start, End, ExitCode, Output }) => ({
      startedAt: timeOf(Start),
      endedAt: timeOf(End),
      exitCode: ExitCode,
      output: Output.slice(0, HEALTH_OUTPUT_MAX),
    })),
    stats: running ? deps.stats.get(container.id) ?? null : null,
  };
}

/** `NAME=value`; a name without a value is taken out of the container's environment. */
function variable(entry: string, shown: boolean): { name: string; value: string } {
  const at = entry.indexOf("=");
  if (at < 0) return { name: entry, value: "" };
  return { name: entry.slice(0, at), value: shown ? entry.slice(at + 1) : REDACTED };
}

function mountsOf({ Mounts }: ContainerInspect): ContainerDetail["mounts"] {
  return (Mounts ?? []).map(({ Type, Name, Source, Destination, RW }) => ({
    type: Type || "bind",
    name: Name || null,
    source: Source ?? "",
    destination: Destination,
    readOnly: RW === false,
  }));
}

function networkSettingsOf({ NetworkSettings }: ContainerInspect) {
  return Object.entries(NetworkSettings.Networks ?? {}).map(([name, settings]) => ({
    name,
    networkId: settings.NetworkID ?? "",
    ipv4: settings.IPAddress ?? "",
    ipv6: settings.GlobalIPv6Address ?? "",
    gateway: settings.Gateway ?? "",
    mac: settings.MacAddress ?? "",
    aliases: settings.Aliases ?? [],
  }));
}

/** `--cpus` is stored as billionths of a core by new clients, as quota and period by old ones. */
function limitsOf({ HostConfig }: ContainerInspect): ContainerDetail["limits"] {
  const { Memory = 0, NanoCpus = 0, CpuQuota = 0, CpuPeriod = 0, PidsLimit } = HostConfig;
  const quota = CpuQuota > 0 ? CpuQuota / (CpuPeriod || 100_000) : null;
  return {
    memoryBytes: Memory > 0 ? Memory : null,
    cpus: NanoCpus > 0 ? NanoCpus / 1e9 : quota,
    pids: PidsLimit && PidsLimit > 0 ? PidsLimit : null,
  };
}
