/**
 * Merging of normalised services: `extends`, and several files in one `include`.
 *
 * @see https://github.com/compose-spec/compose-spec/blob/main/13-merge.md
 * @module
 */

import type { WrittenService } from "./service_keys.ts";

/** Lists that are replaced as a whole. */
const REPLACED = new Set(["command", "entrypoint", "test"]);

/** What distinguishes the entries of a list; in other lists, equal entries are the same. */
const KEYS: Readonly<Record<string, string>> = {
  configs: "source",
  devices: "target",
  env_file: "path",
  secrets: "source",
  volumes: "target",
};

type Values = Record<string, unknown>;

/** Returns `base` with everything that `over` has; lists are joined. */
export const mergeServices = (base: WrittenService, over: WrittenService): WrittenService =>
  mergeValues(base, over) as WrittenService;

function mergeValues(base: Values, over: Values): Values {
  const merged = Object.entries(over).map(([key, value]) => [key, mergeKey(key, base[key], value)]);
  return { ...base, ...Object.fromEntries(merged) };
}

function mergeKey(key: string, base: unknown, over: unknown): unknown {
  if (Array.isArray(base) && Array.isArray(over)) {
    return REPLACED.has(key) ? over : mergeLists(base, over, KEYS[key]);
  }
  if (isValues(base) && isValues(over)) {
    // Options belong to their driver.
    const isOther = key === "logging" && over.driver !== undefined && over.driver !== base.driver;
    return isOther ? over : mergeValues(base, over);
  }
  // An empty entry, e.g. of a network, changes nothing.
  return over === null && typeof base === "object" ? base : over;
}

function mergeLists(base: unknown[], over: unknown[], key: string | undefined): unknown[] {
  const identity = (item: unknown) =>
    JSON.stringify(key !== undefined && isValues(item) ? item[key] : item);
  return [...new Map([...base, ...over].map((item) => [identity(item), item])).values()];
}

const isValues = (value: unknown): value is Values =>
  typeof value === "object" && value !== null && !Array.isArray(value);
