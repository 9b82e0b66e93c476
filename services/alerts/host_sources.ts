/** Sources of the values of the host, the engine and the service. @module */

import type { AlertMetric, AlertRule } from "../../db/alert_rules.ts";
import { selectOldestQueued } from "../../db/outbox_messages.ts";
import type { Deps } from "../deps.ts";
import { asAppError } from "../errors.ts";
import type { Reading } from "./memory.ts";
import type { HostSample, NetworkCounters } from "../metrics/host/cache.ts";
import type { Container } from "../containers/inventory.ts";
import { systemReason } from "../text/system_reason.ts";
import type { ReadDeps } from "../containers/reads.ts";
import { diskUsage } from "../metrics/host/metrics.ts";
import { type PressureResource, readPressure } from "../metrics/host/pressure.ts";
import { findSensors, readTemperature } from "../metrics/host/temperature.ts";
import { readDiskForecast } from "./disk_forecast.ts";

export type SourceDeps =
  & ReadDeps
  & Pick<Deps, "alerts" | "config" | "db" | "host" | "metrics" | "now" | "startedAt">;

/** Reads a value at once, from memory. */
type Fast = (deps: FastDeps) => Reading;
type FastDeps = Pick<Deps, "host" | "inventory" | "now" | "startedAt">;

/** Reads a value from a file, a database or the engine. */
interface Slow {
  /** Interval of readings, in milliseconds. */
  everyMs: number;
  read(deps: SourceDeps, rule: Pick<AlertRule, "path">): Promise<Reading> | Reading;
}

/** Age at which a host sample is ignored, in milliseconds. The host is sampled every 5 seconds. */
const SAMPLE_AGE_MAX_MS = 30_000;

/**
 * Time after the start in which an engine that has not answered yet is not down, in milliseconds.
 */
const START_MS = 30_000;

const ROUND_MS = 5_000;
const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** Interfaces whose traffic another interface has as well, or that stay within the host. */
const INNER_INTERFACES = /^(lo|veth|docker|br-|virbr|cni|podman|cali|flannel|vxlan|tun|tap)/;

/** Values that are read in each round. */
export const FAST_SOURCES: { [Metric in AlertMetric]?: Fast } = {
  cpu_percent: (deps) => ofHost(deps, ({ cpuPercent }) => cpuPercent),
  memory_percent: (deps) => ofHost(deps, ({ memory }) => memory.percent),
  swap_percent: (deps) => ofHost(deps, ({ swap }) => swap.percent),
  disk_percent: (deps) => ofHost(deps, ({ disk }) => disk.percent),
  load_1: (deps) => ofHost(deps, ({ load }) => load[0]),
  container_stopped: ({ inventory }) =>
    inventory.live
      ? { value: stoppedContainers({ inventory }).length }
      : { reason: "The engine is unreachable" },
  engine_down({ inventory, now, startedAt }) {
    if (inventory.live) return { value: 0 };
    const isStarting = Math.abs(now().getTime() - startedAt.getTime()) < START_MS;
    return isStarting ? { reason: "The service has just started" } : { value: 1 };
  },
};

/** Values that are read between the rounds. */
export const SLOW_SOURCES: { [Metric in AlertMetric]?: Slow } = {
  disk_percent: {
    everyMs: ROUND_MS,
    async read(_deps, { path }) {
      try {
        return { value: (await diskUsage(path ?? undefined)).disk.percent };
      } catch (error) {
        return { reason: `${path} cannot be measured: ${fileReason(error)}` };
      }
    },
  },
  disk_full_in_hours: { everyMs: 5 * MINUTE_MS, read: readDiskForecast },
  pressure_cpu: pressureSource("cpu"),
  pressure_memory: pressureSource("memory"),
  pressure_io: pressureSource("io"),
  network_bytes_per_second: { everyMs: ROUND_MS, read: readNetworkRate },
  temperature_celsius: { everyMs: 3 * ROUND_MS, read: readHostTemperature },
  outbox_age_seconds: {
    everyMs: 3 * ROUND_MS,
    read({ db, now }) {
      const oldest = selectOldestQueued(db);
      return { value: oldest === undefined ? 0 : secondsSince(oldest, now()) };
    },
  },
  certificate_days_remaining: { everyMs: MINUTE_MS, read: readCertificateDays },
  update_available_days: { everyMs: 15 * MINUTE_MS, read: readUpdateDays },
};

/** The current value of a metric that is read in each round; `undefined` while unknown. */
export const metricValue = (deps: FastDeps, metric: AlertMetric): number | undefined =>
  FAST_SOURCES[metric]?.(deps).value;

/** Names of the containers that are not running, except finished tasks. */
export function stoppedContainers({ inventory }: Pick<Deps, "inventory">): string[] {
  return inventory.list().filter(isStopped).map(({ name }) => name).sort();
}

/** Whether a container is not running although it should be. */
export const isStopped = (container: Container): boolean =>
  container.state !== "running" && !isFinishedTask(container);

/** Whether a container exited with code 0 and has the restart policy `no`, or none. */
const isFinishedTask = ({ state, exitCode, details }: Container): boolean =>
  state === "exited" && exitCode === 0 && ["no", ""].includes(details.restartPolicy.name);

function ofHost(
  { host, now }: Pick<Deps, "host" | "now">,
  value: (sample: HostSample) => number,
): Reading {
  const sample = host.latest;
  const isCurrent = sample &&
    Math.abs(now().getTime() - Date.parse(sample.timestamp)) <= SAMPLE_AGE_MAX_MS;
  return isCurrent
    ? { value: value(sample) }
    : { reason: "The host was not measured in the last 30 seconds" };
}

function pressureSource(resource: PressureResource): Slow {
  return {
    everyMs: ROUND_MS,
    async read({ config }) {
      if (config.procPath === null) {
        return unsupported("Set PROC_PATH to a mount of the host's /proc to read its pressure");
      }
      try {
        return { value: await readPressure(config.procPath, resource) };
      } catch (error) {
        return unsupported(`The host does not report pressure (PSI): ${fileReason(error)}`);
      }
    },
  };
}

/** Bytes in both directions, between the last two samples of the host. */
function readNetworkRate(deps: SourceDeps): Reading {
  const { alerts, config, host, now } = deps;
  if (config.procPath === null) {
    return unsupported("Set PROC_PATH to a mount of the host's /proc to read its network");
  }
  const sample = host.latest;
  if (!sample?.network) return ofHost(deps, () => 0);
  const bytes = outerBytes(sample.network);
  const readMs = Date.parse(sample.timestamp);
  const before = alerts.network;
  if (!before || before.readMs !== readMs) {
    const seconds = before ? (readMs - before.readMs) / 1000 : 0;
    const isUsable = before && seconds > 0 && seconds <= 60 && bytes >= before.bytes;
    const rate = isUsable ? Math.round((bytes - before.bytes) / seconds) : undefined;
    alerts.network = { bytes, readMs, rate };
  }
  const { rate } = alerts.network!;
  if (rate === undefined) return { reason: "The network is measured between two samples" };
  return Math.abs(now().getTime() - readMs) <= SAMPLE_AGE_MAX_MS
    ? { value: rate }
    : ofHost(deps, () => rate);
}

const outerBytes = (interfaces: readonly NetworkCounters[]) =>
  interfaces.filter(({ name }) => !INNER_INTERFACES.test(name))
    .reduce((sum, { rxBytes, txBytes }) => sum + rxBytes + txBytes, 0);

async function readHostTemperature({ config }: SourceDeps): Promise<Reading> {
  if (config.sysPath === null) {
    return unsupported("Set SYS_PATH to a mount of the host's /sys to read its temperatures");
  }
  const sensors = await findSensors(config.sysPath);
  if (sensors.length === 0) return unsupported("The host shows no temperature sensor");
  const value = await readTemperature(sensors);
  return value === undefined ? { reason: "No temperature sensor can be read" } : { value };
}

/** The fewest days that a certificate of `SSL_DOMAINS` is still valid. */
function readCertificateDays({ alerts, config, now }: SourceDeps): Reading {
  if (config.sslDomains.length === 0) {
    return unsupported("Set SSL_DOMAINS to the domains whose certificates are checked");
  }
  const [next] = (alerts.certificates ?? [])
    .toSorted((a, b) => a.expiresAt < b.expiresAt ? -1 : 1);
  if (!next) return { reason: "No certificate of SSL_DOMAINS has been read yet" };
  const days = (Date.parse(next.expiresAt) - now().getTime()) / DAY_MS;
  return { value: Math.floor(days), about: next.domain };
}

/** For how many days the oldest update of an image in use has been available. */
async function readUpdateDays(deps: SourceDeps): Promise<Reading> {
  // Loads what compares images with registries, which few installations do with an alert.
  const { listUpdates } = await import("../updates/check/list.ts");
  try {
    const [oldest] = (await listUpdates(deps, {}))
      .filter(({ status }) => status === "update_available" || status === "pulled")
      .flatMap(({ firstSeenAt, image }) => firstSeenAt === null ? [] : [{ firstSeenAt, image }])
      .sort((a, b) => a.firstSeenAt < b.firstSeenAt ? -1 : 1);
    if (!oldest) return { value: 0 };
    const days = secondsSince(oldest.firstSeenAt, deps.now()) / 86_400;
    return { value: Math.floor(days), about: oldest.image };
  } catch (error) {
    const reason = asAppError(error)?.message;
    if (reason === undefined) throw error;
    return { reason };
  }
}

const unsupported = (reason: string): Reading => ({ reason, isUnsupported: true });

const secondsSince = (time: string, now: Date) =>
  Math.max(0, Math.round((now.getTime() - Date.parse(time)) / 1000));

/** The errors of `node:fs` have codes, those of the runtime have classes. */
function fileReason(error: unknown): string {
  const reasons: Record<string, string> = {
    ENOENT: "it does not exist",
    EACCES: "permission denied",
    EOPNOTSUPP: "the kernel has turned it off",
  };
  return reasons[(error as { code?: string }).code ?? ""] ?? systemReason(error);
}
