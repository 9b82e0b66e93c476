/** Metrics of the service itself: requests, streams, workers, engine and resources. @module */

import { nodeProcess } from "../builtins.ts";
import type { Deps } from "../deps.ts";
import { VERSION } from "../version.ts";
import { DURATION_BOUNDS_S, type GroupDurations, type Vitals } from "../metrics/vitals.ts";
import { isFailing } from "../metrics/health.ts";
import { type Family, flag, info, metric, type Series, unixSeconds } from "./family.ts";

const MICROSECONDS_PER_S = 1e6;

export function processFamilies(
  deps: Pick<
    Deps,
    | "config"
    | "engine"
    | "inventory"
    | "license"
    | "maintenance"
    | "startedAt"
    | "stream"
    | "vitals"
    | "workers"
  >,
): Family[] {
  const { config, license, maintenance, stream } = deps;
  return [
    info("longshore_build_info", "Version of the service and its runtime", {
      version: VERSION,
      deno_version: Deno.version.deno,
    }),
    info("longshore_license_info", "Current edition", { edition: license.edition }),
    ...(license.expiresAt === null ? [] : [
      metric(
        "longshore_license_expiry_time_seconds",
        "Expiry of the license, in Unix seconds",
        unixSeconds(license.expiresAt),
      ),
    ]),
    metric(
      "longshore_maintenance_active",
      "Whether maintenance mode is active",
      flag(maintenance.active),
    ),
    ...requests(deps.vitals),
    metric("longshore_sse_clients", "Clients of the event stream", stream.count),
    metric("longshore_sse_clients_limit", "Limit of event stream clients", config.maxSseClients),
    ...engine(deps),
    ...workers(deps),
    ...resources(deps),
  ];
}

function requests(vitals: Vitals): Family[] {
  const traffic = [...vitals.traffic()];
  const total = "longshore_http_requests_total";
  const duration = "longshore_http_request_duration_seconds";
  return [
    metric("longshore_http_requests_in_flight", "Requests in progress", vitals.inFlight),
    metric(
      total,
      "Completed requests",
      traffic.flatMap(({ method, route, byClass }) =>
        byClass.flatMap((value, digit): Series[] =>
          value === 0 ? [] : [{ labels: { method, route, status: `${digit}xx` }, value }]
        )
      ),
    ),
    {
      name: duration,
      help: "Time to the response; for a stream, to its start",
      type: "histogram",
      values: [...vitals.durations()].flatMap((one) => histogram(duration, one)),
    },
  ];
}

/** Buckets are cumulative. */
function histogram(name: string, { group, byDuration, seconds }: GroupDurations): Series[] {
  const sharedLabels = { group };
  let count = 0;
  const buckets = byDuration.map((requests, at): Series => ({
    metricName: `${name}_bucket`,
    labels: { le: String(DURATION_BOUNDS_S[at] ?? "+Inf") },
    sharedLabels,
    value: count += requests,
  }));
  return [
    ...buckets,
    { metricName: `${name}_sum`, sharedLabels, value: seconds },
    { metricName: `${name}_count`, sharedLabels, value: count },
  ];
}

function engine({ engine, inventory }: Pick<Deps, "engine" | "inventory">): Family[] {
  return [
    metric(
      "longshore_engine_up",
      "Whether the container engine is reachable",
      flag(engine.reachable),
    ),
    ...(engine.apiVersion === undefined ? [] : [
      info("longshore_engine_info", "Kind and API version of the container engine", {
        kind: engine.kind ?? "docker",
        api_version: engine.apiVersion,
      }),
    ]),
    metric(
      "longshore_inventory_live",
      "Whether the container inventory follows the engine's events",
      flag(inventory.live),
    ),
    metric(
      "longshore_engine_requests_total",
      "Requests to the container engine",
      engine.counts.requests,
    ),
    metric(
      "longshore_engine_request_failures_total",
      "Requests to the container engine that failed or were answered with an engine error",
      engine.counts.failures,
    ),
  ];
}

function workers({ workers }: Pick<Deps, "workers">): Family[] {
  const states = [...workers.values()];
  return [
    metric(
      "longshore_worker_last_round_timestamp_seconds",
      "Time of the last completed round of a background worker, in Unix seconds",
      states.flatMap(({ name, lastRoundAt }): Series[] =>
        lastRoundAt === null ? [] : [{ labels: { worker: name }, value: unixSeconds(lastRoundAt) }]
      ),
    ),
    metric(
      "longshore_worker_failing",
      "Whether a background worker failed and has not succeeded since",
      states.map((state) => ({ labels: { worker: state.name }, value: flag(isFailing(state)) })),
    ),
  ];
}

function resources({ startedAt, vitals }: Pick<Deps, "startedAt" | "vitals">): Family[] {
  const memory = Deno.memoryUsage();
  const { user, system } = nodeProcess().cpuUsage();
  return [
    metric(
      "longshore_process_start_time_seconds",
      "Start time of the service, in Unix seconds",
      startedAt.getTime() / 1000,
    ),
    metric(
      "longshore_process_cpu_seconds_total",
      "CPU time of the service",
      (user + system) / MICROSECONDS_PER_S,
    ),
    metric("longshore_process_resident_memory_bytes", "Resident memory of the service", memory.rss),
    metric("longshore_process_heap_bytes", "Size of the heap", memory.heapTotal),
    metric("longshore_process_heap_used_bytes", "Heap in use", memory.heapUsed),
    metric(
      "longshore_process_external_memory_bytes",
      "Memory outside of the heap that heap objects refer to",
      memory.external,
    ),
    metric("longshore_event_loop_lag_seconds", "Delay of the last timer", vitals.loopLag.last),
    metric(
      "longshore_event_loop_lag_max_seconds",
      "Maximum delay of timers in the last 15 seconds",
      vitals.loopLag.max,
    ),
  ];
}
