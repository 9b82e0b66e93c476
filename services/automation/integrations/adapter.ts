/**
 * Integration adapters: each describes one kind of system, its config, and how to query it.
 *
 * @module
 */

import * as z from "zod";
import type { AdapterRecord } from "./record.ts";
import type { AdapterContext } from "./request.ts";
import type { Edition } from "../../edition.ts";
import type { InputIssue } from "../../errors.ts";
import { checkShape } from "../../input/check.ts";

/** The config of an integration as plain JSON. */
export type AdapterConfig = Record<string, unknown>;

/** The outcome of a poll. */
export interface Fetched {
  /** Most important first; records beyond {@linkcode RECORDS_MAX} are dropped. */
  records: AdapterRecord[];
  /** Whether the records include all active alerts, so that a missing one has ended. */
  alertsComplete: boolean;
  /** Reason why the poll is not complete, in one sentence; `null` if it is. */
  problem: string | null;
}

/** One kind of system. */
export interface Adapter {
  /** E.g. `metrics-query`. */
  id: string;
  /** Other names under which it can be created. */
  aliases: readonly string[];
  name: string;
  /** The lowest edition that has it. */
  edition: Edition;
  /** Loads the implementation on first use; most installations need none or one. */
  load(): Promise<LoadedAdapter>;
}

export interface LoadedAdapter {
  fields: { required: string[]; optional: string[]; sensitive: string[] };
  /** Fields of the config with the URLs of requests. */
  addresses: readonly string[];
  /**
   * Returns the URL that the secrets of a config are for.
   *
   * @param config A parsed config, whose secrets may be redacted.
   */
  target(config: AdapterConfig): string;
  /**
   * Checks a config. The paths of the issues start with `path`. Unknown fields are dropped, or with
   * `refusesUnknown` issues.
   */
  parse(
    config: unknown,
    path: string,
    options?: { refusesUnknown: boolean },
  ): { config: AdapterConfig } | { issues: InputIssue[] };
  /** Fetches all records. @throws {AdapterError} or what the request threw. */
  fetch(context: AdapterContext, config: AdapterConfig): Promise<Fetched>;
  /** Verifies the URL and the credentials with a small request. @throws as `fetch`. */
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

/** A URL in a config. The host is checked when the config is stored. */
export const Address = z.string().min(1).max(2_048);

/** A secret that is sent in a header: visible ASCII (RFC 9110, 5.5). */
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
    parse(config, path, { refusesUnknown } = { refusesUnknown: false }) {
      const checked = checkShape(refusesUnknown ? shape.strict() : shape, config, path);
      return "data" in checked ? { config: checked.data as AdapterConfig } : checked;
    },
    fetch: fetch as LoadedAdapter["fetch"],
    test: test as LoadedAdapter["test"],
  };
}

/** Returns the adapter with an id or alias. */
export function findAdapter(adapters: readonly Adapter[], id: string): Adapter | undefined {
  return adapters.find((each) => each.id === id || each.aliases.includes(id));
}
