/**
 * What an integration adapter is: one kind of system, what its config is made of, and how it is
 * asked.
 *
 * @module
 */

import * as z from "zod";
import type { AdapterRecord } from "./record.ts";
import type { AdapterContext } from "./request.ts";
import type { Edition } from "../license/edition.ts";
import type { InputIssue } from "../errors.ts";
import { checkFields, checkShape } from "../input/check.ts";

/** How an integration's config reaches its adapter, and what it is shown as: plain JSON. */
export type AdapterConfig = Record<string, unknown>;

/** The outcome of asking a system. */
export interface Fetched {
  /** The most important first: what is beyond {@linkcode RECORDS_MAX} is left out. */
  records: AdapterRecord[];
  /** Every alert that goes on is among the records: one that is not among them has ended. */
  alertsComplete: boolean;
  /** What could not be had while the rest could, in one sentence. */
  problem: string | null;
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
  /**
   * The address that the secrets of a config are meant for. One that was parsed before, and that
   * may have its secrets redacted.
   */
  target(config: AdapterConfig): string;
  /** Checks a config and drops what is not part of it. The paths of the issues begin with `path`. */
  parse(config: unknown, path: string): { config: AdapterConfig } | { issues: InputIssue[] };
  /** Complains of fields that are not part of it. */
  findUnknown(config: unknown, path: string): InputIssue[];
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
  target(config: z.output<z.ZodObject<Shape>>): string;
  fetch(context: AdapterContext, config: z.output<z.ZodObject<Shape>>): Promise<Fetched>;
  test(context: AdapterContext, config: z.output<z.ZodObject<Shape>>): Promise<void>;
}

/** An address in a config. What it may reach is checked where the config is stored. */
export const Address = z.string().min(1).max(2_048);

/** A secret that travels in a header: visible ASCII (RFC 9110, 5.5). */
export const HeaderSecret = z.string().min(1).max(4_096)
  .regex(/^[\x21-\x7e]+$/, { error: "must be visible ASCII characters without spaces" });

/** Erases the types of an adapter's config. */
export function adapter<Shape extends z.ZodRawShape>(definition: Definition<Shape>): LoadedAdapter {
  const { config: shape, addresses, sensitive, target, fetch, test } = definition;
  const names = Object.keys(shape.shape);
  const isOptional = (name: string) =>
    (shape.shape[name] as z.ZodType).safeParse(undefined).success;
  return {
    addresses,
    target: target as LoadedAdapter["target"],
    fields: {
      required: names.filter((name) => !isOptional(name)),
      optional: names.filter(isOptional),
      sensitive: [...sensitive],
    },
    parse(config, path) {
      const checked = checkShape(shape, config, path);
      return "data" in checked ? { config: checked.data as AdapterConfig } : checked;
    },
    findUnknown: (config, path) => checkFields(shape, config, path),
    fetch: fetch as LoadedAdapter["fetch"],
    test: test as LoadedAdapter["test"],
  };
}

/** The adapter of an id or one of its aliases. */
export function findAdapter(adapters: readonly Adapter[], id: string): Adapter | undefined {
  return adapters.find((each) => each.id === id || each.aliases.includes(id));
}
