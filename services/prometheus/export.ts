/** The metrics export in Prometheus exposition format, read from memory. @module */

import type { Metric } from "prom-client";
import { nodeZlib } from "../builtins.ts";
import type { Caller } from "../access/caller.ts";
import { isLimited } from "../access/scope.ts";
import { visibleTo } from "../containers/visible.ts";
import type { Deps } from "../deps.ts";
import { errorFields } from "../log.ts";
import { type ContainerLabels, createContainerLabels } from "./container_series.ts";
import { containerFamilies } from "./containers.ts";
import type { Family } from "./family.ts";
import { fleetFamilies } from "./fleet.ts";
import { kernelFamilies } from "./kernel.ts";
import { hostFamilies } from "./host.ts";
import { processFamilies } from "./process.ts";
import { recordFamilies } from "./records.ts";
import { summaryFamilies } from "./summaries.ts";

interface MetricsText {
  bytes: Uint8Array<ArrayBuffer>;
  /** The compressed text; computed by the first call. */
  gzip(): Uint8Array<ArrayBuffer>;
  contentType: string;
}

/** Time for which an export is cached while containers and stats do not change, in milliseconds. */
const CACHE_MS = 1_000;

/** Time for which metrics from the databases are cached, in milliseconds. */
const RECORDS_CACHE_MS = 5_000;

const encoder = new TextEncoder();

/** Creates the exporter, which never waits for the engine. */
export function createMetricsExporter(
  deps: Deps,
): (caller?: Pick<Caller, "scope">) => Promise<MetricsText> {
  const { inventory, stats, now } = deps;
  const labelsOf = createContainerLabels();
  const readRecords = createRecordReader(deps);
  let cached: { revision: string; at: number; text: Promise<MetricsText> } | undefined;

  return (caller = {}) => {
    stats.wantSizes();
    // Metrics of the host include containers outside of the scope.
    if (isLimited(caller.scope)) {
      return formatMetrics(null, familiesOf(visibleTo(deps, caller), labelsOf));
    }
    const at = now().getTime();
    const revision = `${inventory.revision} ${stats.revision}`;
    if (!cached || cached.revision !== revision || Math.abs(at - cached.at) >= CACHE_MS) {
      cached = {
        revision,
        at,
        text: formatMetrics(deps.config.procPath, [
          ...liveFamilies(deps, labelsOf),
          ...fleetFamilies(deps),
          ...readRecords(),
        ]),
      };
    }
    return cached.text;
  };
}

/** Metrics of containers are missing while the inventory is not live, because it may be outdated. */
function liveFamilies(deps: Deps, labelsOf: ContainerLabels): Family[] {
  const { config, host, inventory } = deps;
  return [
    ...processFamilies(deps),
    ...(inventory.live ? summaryFamilies(inventory.list()) : []),
    ...(host.latest
      ? hostFamilies({ sample: host.latest, hostName: config.serverName, now: deps.now() })
      : []),
    ...familiesOf(deps, labelsOf),
  ];
}

function familiesOf(
  { engine, inventory, now, stats }: Pick<Deps, "engine" | "inventory" | "now" | "stats">,
  labelsOf: ContainerLabels,
): Family[] {
  if (!inventory.live) return [];
  const containers = inventory.list();
  return containerFamilies({ containers, labelsOf, stats, kind: engine.kind, now: now() });
}

/** A failing database does not fail the export. */
function createRecordReader(deps: Deps): () => Family[] {
  let cached: Family[] = [];
  let readAt = -Infinity;
  return () => {
    const at = deps.now().getTime();
    if (Math.abs(at - readAt) < RECORDS_CACHE_MS) return cached;
    readAt = at;
    try {
      cached = recordFamilies(deps);
    } catch (error) {
      cached = [];
      deps.log.warn("database metrics missing from export", errorFields(error));
    }
    return cached;
  };
}

/** @param procPath Where the kernel's metrics are read, if at all. */
async function formatMetrics(
  procPath: string | null,
  families: readonly Family[],
): Promise<MetricsText> {
  const kernel = procPath === null ? [] : await kernelFamilies(procPath);
  const byName = new Map<string, Family>();
  for (const family of families) {
    const known = byName.get(family.name);
    const values = [...known?.values ?? [], ...family.values];
    byName.set(family.name, known ? { ...known, values } : family);
  }
  // Metrics of the kernel replace those of the sampler.
  for (const family of kernel) byName.set(family.name, family);
  // Loaded on first use, because the import is slow. In the bundle, CommonJS has only a default export.
  const { default: { Registry } } = await import("prom-client");
  const registry = new Registry();
  // The values exist already, so a metric has only the members that the registry reads.
  for (const family of byName.values()) {
    registry.registerMetric({ ...family, get: () => family } as unknown as Metric);
  }
  const bytes = encoder.encode(await registry.metrics());
  let compressed: Uint8Array<ArrayBuffer> | undefined;
  return {
    bytes,
    gzip: () => compressed ??= new Uint8Array(nodeZlib().gzipSync(bytes, { level: 1 })),
    contentType: registry.contentType,
  };
}
