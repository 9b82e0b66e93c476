/**
 * What the process knows of itself without looking anywhere: requests, streams, workers, the
 * engine, its own use of memory.
 *
 * @module
 */

import { nodeProcess } from "../../../builtins.ts";
import type { Deps } from "../../../deps.ts";
import { VERSION } from "../../../version.ts";
import { DURATION_BOUNDS_S, type GroupDurations, type Vitals } from "../../../state/vitals.ts";
import { isFailing } from "../../health.ts";
import { counter, type Family, flag, gauge, info, type Series, unixSeconds } from "./family.ts";

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
    info("longshore_build_info", "Version of the service and of its runtime", {
      version: VERSION,
      deno_version: Deno.version.deno,
    }),
    info("longshore_license_info", "Edition in force", { edition: license.edition }),
    ...(license.expiresAt === null ? [] : [
      gauge(
        "longshore_license_expiry_time_seconds",
        "End of the license, in Unix seconds",
        unixSeconds(license.expiresAt),
      ),
    ]),
    gauge(
      "longshore_maintenance_active",
      "Whether maintenance holds back what goes out",
      flag(maintenance.active),
    ),
    ...requests(deps.vitals),
    gauge("longshore_sse_clients", "Clients of the event stream", stream.count),
    gauge("longshore_sse_clients_limit", "Most clients of the event stream", config.maxSseClients),
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
    gauge(
      "longshore_http_requests_in_flight",
      "Requests that have no answer yet",
      vitals.inFlight,
    ),
    counter(
      total,
      "Requests that were answered",
      traffic.flatMap(({ method, route, byClass }) =>
        byClass.flatMap((value, digit): Series[] =>
          value === 0 ? [] : [{ labels: { method, route, status: `${digit}xx` }, value }]
        )
      ),
    ),
    {
      name: duration,
      help: "Time to the answer; of a stream, to its beginning",
      type: "histogram",
      values: [...vitals.durations()].flatMap((one) => histogram(duration, one)),
    },
  ];
}

/** Each class of duration counts the shorter ones as well. */
function histogram(name: string, { group, byDuration, seconds }: GroupDurations): Series[] {
  const sharedLabels = { group };
  let count = 0;
  const buckets = byDuration.map((answers, at): Series => ({
    metricName: `${name}_bucket`,
    labels: { le: String(DURATION_BOUNDS_S[at] ?? "+Inf") },
    sharedLabels,
    value: count += answers,
  }));
  return [
    ...buckets,
    { metricName: `${name}_sum`, sharedLabels, value: seconds },
    { metricName: `${name}_count`, sharedLabels, value: count },
  ];
}

function engine({ engine, inventory }: Pick<Deps, "engine" | "inventory">): Family[] {
  return [
    gauge("longshore_engine_up", "Whether the container engine answers", flag(engine.reachable)),
    ...(engine.apiVersion === undefined ? [] : [
      info("longshore_engine_info", "The container engine and the API that is spoken with it", {
        kind: engine.kind ?? "docker",
        api_version: engine.apiVersion,
      }),
    ]),
    gauge(
      "longshore_inventory_live",
      "Whether the engine is followed, so that what is known of its containers is right",
      flag(inventory.live),
    ),
    counter(
      "longshore_engine_requests_total",
      "Requests to the container engine",
      engine.counts.requests,
    ),
    counter(
      "longshore_engine_request_failures_total",
      "Requests that the container engine did not answer, or only with a failure of its own",
      engine.counts.failures,
    ),
  ];
}

function workers({ workers }: Pick<Deps, "workers">): Family[] {
  const states = [...workers.values()];
  return [
    gauge(
      "longshore_worker_last_round_timestamp_seconds",
      "End of the last round of a background worker, in Unix seconds",
      states.flatMap(({ name, lastRoundAt }): Series[] =>
        lastRoundAt === null ? [] : [{ labels: { worker: name }, value: unixSeconds(lastRoundAt) }]
      ),
    ),
    gauge(
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
    gauge(
      "longshore_process_start_time_seconds",
      "Start of the service, in Unix seconds",
      startedAt.getTime() / 1000,
    ),
    counter(
      "longshore_process_cpu_seconds_total",
      "Processor time of the service",
      (user + system) / MICROSECONDS_PER_S,
    ),
    gauge("longshore_process_resident_memory_bytes", "Memory of the service", memory.rss),
    gauge("longshore_process_heap_bytes", "Size of the heap", memory.heapTotal),
    gauge("longshore_process_heap_used_bytes", "What of the heap is in use", memory.heapUsed),
    gauge(
      "longshore_process_external_memory_bytes",
      "Memory that the heap refers to and that lies outside of it",
      memory.external,
    ),
    gauge(
      "longshore_event_loop_lag_seconds",
      "How late the last timer was",
      vitals.loopLag.last,
    ),
    gauge(
      "longshore_event_loop_lag_max_seconds",
      "How late the latest timer of the last 15 seconds was",
      vitals.loopLag.max,
    ),
  ];
}
