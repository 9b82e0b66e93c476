/** Adapter for any JSON document over HTTP. Each mapping reads one value. @module */

import * as z from "zod";
import { type AdapterRecord, dataRecord } from "../record.ts";
import { type AdapterContext, AdapterError, assertSuccess, readJson } from "../request.ts";
import { limitedRecord } from "../../../input/limited_record.ts";
import { adapter, Address } from "../adapter.ts";
import { outboundHeaderProblem } from "../../../outbound/headers.ts";

const MAPPINGS_MAX = 100;
const HEADERS_MAX = 20;
const LABELS_MAX = 20;

/** Limit of names and indexes in a path. */
const DEPTH_MAX = 20;

const Headers = limitedRecord(z.string(), z.string(), HEADERS_MAX)
  .superRefine((headers, context) => {
    for (const [name, value] of Object.entries(headers)) {
      const message = outboundHeaderProblem(name, value);
      if (message) context.addIssue({ code: "custom", path: [name], message });
    }
  });

const Mapping = z.strictObject({
  path: z.string().min(1).max(500).refine((path) => parsePath(path) !== undefined, {
    error: `must be at most ${DEPTH_MAX} names and indexes, separated by dots`,
  }),
  name: z.string().min(1).max(100),
  unit: z.string().min(1).max(50).optional(),
  labels: limitedRecord(z.string().min(1).max(100), z.string().max(300), LABELS_MAX).optional(),
});

const Config = z.object({
  url: Address,
  method: z.enum(["GET", "POST"]).optional(),
  headers: Headers.optional(),
  fieldMappings: z.array(Mapping).min(1).max(MAPPINGS_MAX),
});
type Config = z.output<typeof Config>;

export const httpJson = adapter({
  config: Config,
  addresses: ["url"],
  sensitive: ["headers"],
  target: ({ url }) => url,

  async fetch(context, config) {
    const document = await requestDocument(context, config);
    const records: AdapterRecord[] = [];
    const problems: string[] = [];
    for (const [index, { path, name, unit, labels = {} }] of config.fieldMappings.entries()) {
      const value = valueAt(document, path);
      const reading = toReading(value);
      if (reading) {
        records.push(dataRecord(context, { type: "metric", name, unit, labels, ...reading }));
      } else problems.push(`fieldMappings.${index} (${name}): ${describeMismatch(value)}`);
    }
    return {
      records,
      alertsComplete: false,
      problem: problems.length ? problems.slice(0, PROBLEMS_SHOWN).join("; ") : null,
    };
  },

  async test(context, config) {
    await requestDocument(context, config);
  },
});

/** Limit of reported problems. */
const PROBLEMS_SHOWN = 5;

async function requestDocument(context: AdapterContext, { url, method = "GET", headers }: Config) {
  const response = await context.ask({
    url: new URL(url),
    method,
    headers: { accept: "application/json", ...headers },
  });
  assertSuccess(response);
  const document = readJson(response);
  if (typeof document !== "object" || document === null) {
    throw new AdapterError("The system's answer is neither an object nor a list");
  }
  return document;
}

/**
 * The value at a path such as `disks.0.used` or `disks[0].used`. Inherited properties are not
 * found.
 */
export function valueAt(document: unknown, path: string): unknown {
  let at = document;
  for (const step of parsePath(path) ?? []) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return undefined;
    if (Array.isArray(at) && !/^\d+$/.test(step)) return undefined;
    at = (at as Record<string, unknown>)[step];
  }
  return at;
}

function parsePath(path: string): string[] | undefined {
  const list = path.replace(/\[(\d+)\]/g, ".$1").replace(/^\./, "").split(".");
  return list.includes("") || list.length > DEPTH_MAX ? undefined : list;
}

/** Numbers and numeric text are values, booleans are 1 and 0, other text is a status. */
function toReading(found: unknown): { value: number } | { status: string } | undefined {
  if (typeof found === "boolean") return { value: Number(found) };
  if (typeof found === "number") return { value: found };
  if (typeof found !== "string" || found.trim() === "") return undefined;
  return Number.isFinite(Number(found)) ? { value: Number(found) } : { status: found };
}

function describeMismatch(found: unknown): string {
  if (found === undefined) return "path not found";
  const type = Array.isArray(found) ? "a list" : found === null ? "null" : "not a value";
  return `path leads to ${type}`;
}
