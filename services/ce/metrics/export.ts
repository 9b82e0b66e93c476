/**
 * All metrics, in the exposition format of Prometheus. They are read from memory: a scraper never
 * waits for the engine.
 *
 * @module
 */

import type { Metric } from "prom-client";
import { nodeZlib } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import { errorFields } from "../../log.ts";
import { containerFamilies } from "./families/containers.ts";
import type { Family } from "./families/family.ts";
import { kernelFamilies } from "./families/kernel.ts";
import { hostFamilies } from "./families/host.ts";
import { processFamilies } from "./families/process.ts";
import { recordFamilies } from "./families/records.ts";
import { summaryFamilies } from "./families/summaries.ts";

export interface MetricsText {
  bytes: Uint8Array<ArrayBuffer>;
  /** Compressed at the first call. */
  gzip(): Uint8Array<ArrayBuffer>;
  contentType: string;
}

/** What was written out is sent again for this long, in milliseconds, unless something changed. */
const KEPT_MS = 1_000;

/** The databases are asked no more often than this, in milliseconds. */
const RECORDS_KEPT_MS = 5_000;

const encoder = new TextEncoder();

/** Makes the reader of the export. It never waits for the engine. */
export function metricsExporter(deps: Deps): () => Promise<MetricsText> {
  const { inventory, stats, now } = deps;
  const records = recordReader(deps);
  let kept: { revision: string; at: number; text: Promise<MetricsText> } | undefined;

  return () => {
    stats.wantSizes();
    const at = now().getTime();
    const revision = `${inventory.revision} ${stats.revision}`;
    if (!kept || kept.revision !== revision || Math.abs(at - kept.at) >= KEPT_MS) {
      kept = { revision, at, text: writeOut(deps, [...liveFamilies(deps), ...records()]) };
    }
    return kept.text;
  };
}

/** Containers are left out while the engine is not followed: their state may have changed. */
function liveFamilies(deps: Deps): Family[] {
  const { config, engine, host, inventory, stats } = deps;
  const now = deps.now();
  const containers = inventory.live ? inventory.list() : undefined;
  return [
    ...processFamilies(deps),
    ...(containers ? summaryFamilies(containers) : []),
    ...(host.latest ? hostFamilies({ sample: host.latest, hostName: config.serverName, now }) : []),
    ...(containers ? containerFamilies({ containers, stats, kind: engine.kind, now }) : []),
  ];
}

/** A database that fails must not take the rest with it. */
function recordReader(deps: Deps): () => Family[] {
  let kept: Family[] = [];
  let readAt = -Infinity;
  return () => {
    const at = deps.now().getTime();
    if (Math.abs(at - readAt) < RECORDS_KEPT_MS) return kept;
    readAt = at;
    try {
      kept = recordFamilies(deps);
    } catch (error) {
      kept = [];
      deps.log.warn("no records in the metrics", errorFields(error));
    }
    return kept;
  };
}

/** The library takes its time to load, so whoever is not scraped does without it. */
async function writeOut(
  { config }: Pick<Deps, "config">,
  families: readonly Family[],
): Promise<MetricsText> {
  const kernel = config.procPath === null ? [] : await kernelFamilies(config.procPath);
  const byName = new Map<string, Family>();
  for (const family of families) {
    const known = byName.get(family.name);
    const values = [...known?.values ?? [], ...family.values];
    byName.set(family.name, known ? { ...known, values } : family);
  }
  // The kernel's own figures replace those of the sampler.
  for (const family of kernel) byName.set(family.name, family);
  const { Registry } = await import("prom-client");
  const registry = new Registry();
  // Measured elsewhere already: of a metric there is only what the registry asks for.
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
