/**
 * What an integration adapter is: how one kind of system is asked, and how its answers become data
 * records.
 *
 * @module
 */

import * as z from "zod";
import type { DataType } from "../db/ce/integration_data.ts";
import type { Edition } from "./edition.ts";

/** How an integration's config reaches its adapter, and what it is shown as: plain JSON. */
export type AdapterConfig = Record<string, unknown>;

/** What an adapter found. `services/ce/integration_polls.ts` stores it. */
export interface AdapterRecord {
  type: DataType;
  name: string;
  value: number | null;
  unit: string | null;
  labels: Record<string, string>;
  severity: string | null;
  status: string | null;
  detail: string | null;
  /** ISO 8601, UTC. Of an alert that goes on: when it was last seen. */
  timestamp: string;
  /**
   * Names a happening (an alert, an incident, an annotation) that is seen in many polls and stored
   * once. `null` for a sample, which is stored each time.
   */
  key: string | null;
  /** Whether it is an alert that goes on. */
  active: boolean;
}

/** The outcome of asking a system. */
export interface Fetched {
  /** The most important first: what is beyond {@linkcode RECORDS_MAX} is left out. */
  records: AdapterRecord[];
  /** Every alert that goes on is among the records: one that is not among them has ended. */
  alertsComplete: boolean;
  /** What could not be had while the rest could, in one sentence. */
  problem: string | null;
}

/** One request of an adapter. Secrets go into headers or the body, never into the address. */
export interface AdapterRequest {
  url: URL;
  method?: "GET" | "POST";
  headers?: Record<string, string>;
  body?: string;
}

export interface AdapterAnswer {
  status: number;
  text(): string;
}

/** What an adapter gets to work with. */
export interface AdapterContext {
  now: Date;
  /** Happenings from then on are asked for; those that are already known do no harm. */
  since: Date;
  /** Sends a request under the outbound guard, with limits on time and size; no redirects. */
  ask(request: AdapterRequest): Promise<AdapterAnswer>;
}

/** One kind of system that can be asked. */
export interface Adapter {
  /** E.g. `metrics-query`. */
  id: string;
  /** Other names under which it can be created. */
  aliases: readonly string[];
  /** As people read it. */
  name: string;
  /** The least edition that has it. */
  edition: Edition;
  /** How to ask it; loaded when it is first needed, for most installations need none or one. */
  load(): Promise<LoadedAdapter>;
}

/** How to ask one kind of system. */
export interface LoadedAdapter {
  fields: { required: string[]; optional: string[]; sensitive: string[] };
  /** Fields of the config that hold an address that is called. */
  addresses: readonly string[];
  /** Checks a config and drops what is not part of it. */
  parse(config: unknown): { config: AdapterConfig } | { field: string; reason: string };
  /** Asks for everything. @throws {AdapterError} or what the request threw. */
  fetch(context: AdapterContext, config: AdapterConfig): Promise<Fetched>;
  /** Asks for as little as proves that address and credentials are right. @throws as `fetch`. */
  test(context: AdapterContext, config: AdapterConfig): Promise<void>;
}

/** An adapter with the types of its own config. */
interface Definition<Shape extends z.ZodRawShape> {
  config: z.ZodObject<Shape>;
  addresses: readonly (keyof Shape & string)[];
  sensitive: readonly (keyof Shape & string)[];
  fetch(context: AdapterContext, config: z.output<z.ZodObject<Shape>>): Promise<Fetched>;
  test(context: AdapterContext, config: z.output<z.ZodObject<Shape>>): Promise<void>;
}

/** A system that did not answer as it should. The message is a sentence without foreign text. */
export class AdapterError extends Error {
  override readonly name = "AdapterError";
}

/** Most records of one poll. */
export const RECORDS_MAX = 1_000;

/** An address in a config. What it may reach is checked where the config is stored. */
export const Address = z.string().min(1).max(2_048);

/** A secret that travels in a header: visible ASCII (RFC 9110, 5.5). */
export const HeaderSecret = z.string().min(1).max(4_096)
  .regex(/^[\x21-\x7e]+$/, { error: "must be visible ASCII characters without spaces" });

/** Erases the types of an adapter's config. */
export function adapter<Shape extends z.ZodRawShape>(definition: Definition<Shape>): LoadedAdapter {
  const { config: shape, addresses, sensitive, fetch, test } = definition;
  const names = Object.keys(shape.shape);
  const isOptional = (name: string) =>
    (shape.shape[name] as z.ZodType).safeParse(undefined).success;
  return {
    addresses,
    fields: {
      required: names.filter((name) => !isOptional(name)),
      optional: names.filter(isOptional),
      sensitive: [...sensitive],
    },
    parse(config) {
      const parsed = shape.safeParse(config);
      if (parsed.success) return { config: parsed.data as AdapterConfig };
      const [issue] = parsed.error.issues;
      return {
        field: (issue?.path ?? []).map(String).join("."),
        reason: issue?.message ?? "not valid",
      };
    },
    fetch: fetch as LoadedAdapter["fetch"],
    test: test as LoadedAdapter["test"],
  };
}

/** The adapter of an id or one of its aliases. */
export function findAdapter(adapters: readonly Adapter[], id: string): Adapter | undefined {
  return adapters.find((each) => each.id === id || each.aliases.includes(id));
}

/** A path under an address that may itself have a path, with a query. */
export function under(
  base: string,
  path: string,
  query: Record<string, string | number> | URLSearchParams = {},
): URL {
  const url = new URL(base);
  url.pathname = url.pathname.replace(/\/+$/, "") + path;
  url.search = (query instanceof URLSearchParams ? query : new URLSearchParams(
    Object.entries(query).map(([name, value]) => [name, String(value)]),
  )).toString();
  url.hash = "";
  return url;
}

/**
 * Asks for JSON of a certain shape.
 *
 * @throws {AdapterError} For another status than 2xx, for what is no JSON, and for another shape.
 */
export async function askJson<Shape extends z.ZodType>(
  context: AdapterContext,
  request: AdapterRequest,
  shape: Shape,
): Promise<z.output<Shape>> {
  const answer = await context.ask({
    ...request,
    headers: { accept: "application/json", ...request.headers },
  });
  assertSuccess(answer);
  return fitting(readJson(answer), shape);
}

/** @throws {AdapterError} For another status than 2xx. */
export function assertSuccess({ status }: AdapterAnswer): void {
  if (status >= 200 && status <= 299) return;
  const hint = HINTS[status] ?? (status >= 300 && status <= 399 ? HINTS.redirect : undefined);
  throw new AdapterError(`The system answered with status ${status}${hint ? ` (${hint})` : ""}`);
}

const HINTS: Record<string, string> = {
  400: "it refused the request",
  401: "check the credentials",
  403: "the credentials lack a permission",
  404: "check the address",
  429: "too many requests; poll less often",
  redirect: "redirects are not followed; enter the final address",
};

/** @throws {AdapterError} For what is no JSON. */
export function readJson(answer: AdapterAnswer): unknown {
  try {
    return JSON.parse(answer.text());
  } catch {
    throw new AdapterError("The system's answer is not JSON; check the address");
  }
}

/** @throws {AdapterError} Names the first part that does not fit, without its value. */
export function fitting<Shape extends z.ZodType>(value: unknown, shape: Shape): z.output<Shape> {
  const parsed = shape.safeParse(value);
  if (parsed.success) return parsed.data;
  // Names of fields that are not in the shape come from outside, hence the numbers and words only.
  const path = (parsed.error.issues[0]?.path ?? []).map(String)
    .map((part) => /^\w{1,40}$/.test(part) ? part : "?").join(".");
  throw new AdapterError(
    `The system's answer is not as expected${path ? ` at ${path}` : ""}; check the address`,
  );
}

/** Longest texts of a record, in characters. */
const TEXT_MAX = { name: 300, unit: 50, severity: 50, status: 100, detail: 1_000, key: 300 };

/** Most labels of a record, and most characters of a name, of a value, and of all together. */
const LABELS_MAX = 40;
const LABEL_NAME_MAX = 100;
const LABEL_VALUE_MAX = 300;
const LABELS_LENGTH_MAX = 2_000;

/** How far ahead of ours a system's clock may be, in milliseconds. */
const CLOCK_AHEAD_MAX_MS = 24 * 60 * 60 * 1000;

/** A record with what it lacks, cut to size: its texts come from outside. */
export function dataRecord(
  { now }: Pick<AdapterContext, "now">,
  given:
    & Pick<AdapterRecord, "type" | "name">
    & {
      [Field in Exclude<keyof AdapterRecord, "type" | "name" | "timestamp" | "labels">]?:
        | AdapterRecord[Field]
        | undefined;
    }
    & {
      labels?: Record<string, string | undefined>;
      /** ISO 8601 or seconds since 1970; the present where there is none or it cannot be right. */
      at?: string | number | null | undefined;
    },
): AdapterRecord {
  const cut = (text: string | null | undefined, max: number) =>
    text === null || text === undefined || text === "" ? null : cutText(text, max);
  return {
    type: given.type,
    name: cut(given.name, TEXT_MAX.name) ?? "unnamed",
    value: Number.isFinite(given.value) ? given.value! : null,
    unit: cut(given.unit, TEXT_MAX.unit),
    labels: cutLabels(given.labels ?? {}),
    severity: cut(given.severity, TEXT_MAX.severity),
    status: cut(given.status, TEXT_MAX.status),
    detail: cut(given.detail, TEXT_MAX.detail),
    timestamp: timestamp(given.at, now),
    key: given.key === null || given.key === undefined ? null : shortKey(given.key),
    active: given.active ?? false,
  };
}

function timestamp(at: string | number | null | undefined, now: Date): string {
  const atMs = typeof at === "number" ? at * 1000 : Date.parse(at ?? "");
  // Beyond 9999 the year takes another form, which does not sort.
  const plausible = atMs >= 0 && atMs <= now.getTime() + CLOCK_AHEAD_MAX_MS;
  return (plausible ? new Date(atMs) : now).toISOString();
}

/** The first ones that fit; those without a value are left out. */
function cutLabels(given: Record<string, string | undefined>): Record<string, string> {
  const labels: [string, string][] = [];
  let length = 0;
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const label: [string, string] = [
      cutText(name, LABEL_NAME_MAX),
      cutText(value, LABEL_VALUE_MAX),
    ];
    length += label[0].length + label[1].length;
    if (labels.length === LABELS_MAX || length > LABELS_LENGTH_MAX) break;
    labels.push(label);
  }
  return Object.fromEntries(labels);
}

/** Without half a character at its end, which would be no text for a database. */
function cutText(text: string, max: number): string {
  return (text.length > max ? text.slice(0, max - 3) + "..." : text).toWellFormed();
}

/** Long keys keep apart by a hash (53 bits are enough among some thousands). */
function shortKey(key: string): string {
  if (key.length <= TEXT_MAX.key) return key.toWellFormed();
  let [high, low] = [0xdeadbeef, 0x41c6ce57];
  for (let i = 0; i < key.length; i++) {
    const code = key.charCodeAt(i);
    high = Math.imul(high ^ code, 2_654_435_761);
    low = Math.imul(low ^ code, 1_597_334_677);
  }
  const hash = (high >>> 0).toString(36) + (low >>> 0).toString(36);
  return `${key.slice(0, TEXT_MAX.key - 20)}#${hash}`.toWellFormed();
}

/** Labels in a fixed order, as part of a key. */
export function labelKey(labels: Record<string, string>): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => a < b ? -1 : 1));
}
