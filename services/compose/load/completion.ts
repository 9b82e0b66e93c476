/**
 * The keys and values that an editor completes, from the same tables as the loader reads with.
 *
 * @module
 */

import { PROJECT_KEYS } from "./project_keys.ts";
import { completing, type Fields, type Reader } from "./reader.ts";
import { named } from "./collections.ts";
import { service } from "./service_keys.ts";

/**
 * By path, such as `services.*.deploy`; that of the whole file is empty. `*` is any name. Items of a
 * list have the path of the list.
 */
export interface ComposeKeys {
  keys: Record<string, string[]>;
  values: Record<string, string[]>;
}

/** All keys that have an effect, and the values of those with a fixed choice. */
export function listComposeKeys(): ComposeKeys {
  const found: ComposeKeys = { keys: {}, values: {} };
  const fields: Fields = { ...PROJECT_KEYS, services: named(service) };
  add(found, "", completing({ fields }, () => undefined));
  return found;
}

function add(found: ComposeKeys, path: string, { completion = {} }: Reader<unknown>): void {
  const { fields = {}, each, values } = completion;
  const below = (key: string) => path === "" ? key : `${path}.${key}`;
  const shown = Object.entries(fields).filter(([, { completion }]) => !completion?.isHidden);
  if (shown.length > 0) found.keys[path] = shown.map(([key]) => key).sort();
  if (values) found.values[path] = [...values];
  for (const [key, reader] of shown) add(found, below(key), reader);
  if (each) add(found, below("*"), each);
}
