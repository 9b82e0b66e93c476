/**
 * The top-level keys, except `services` and `include`.
 *
 * @see https://github.com/compose-spec/compose-spec/blob/main/spec.md
 * @module
 */

import { cidr, ip } from "./addresses.ts";
import { checkMounted, hostPath, isAbsolutePath, resolvePath } from "./paths.ts";
import { anyText, boolean, format, longText, name, parsed, textOrNumber } from "./scalars.ts";
import { byKind, exactList, mapOf, named, object, oneOrList, strings } from "./collections.ts";
import { completing, impossible, present, type Reader } from "./reader.ts";
import { fail, type Loading, warn } from "./scope.ts";

/** Whether something was created outside of the project; older formats have its name in here. */
const external: Reader<boolean | { name?: string }> = byKind({
  scalar: boolean,
  map: object({ name }),
});

/** Keys that all parts of a project may have, as written. */
export interface WrittenPart {
  name?: string;
  external?: boolean | { name?: string };
}

/** Fields of all parts of a project. */
export type Part<Written extends WrittenPart> = Omit<Written, keyof WrittenPart> & {
  /** On the engine. */
  name: string;
  /** Created outside of the project. */
  external?: true;
};

/** A part of the project, by the reader of its keys. It may be empty. */
const part = <T extends WrittenPart>(reader: Reader<T>): Reader<T> =>
  completing(reader.completion, (node, path, scope) => reader(node, path, scope) ?? {} as T);

/**
 * The parts with their names on the engine: by default the project's name, `_` and the key. Known only
 * when all files are merged.
 */
export const nameParts = <T extends WrittenPart>(
  parts: Record<string, T>,
  section: string,
  project: string,
  loading: Loading,
): Record<string, Part<T>> =>
  Object.fromEntries(
    Object.entries(parts).map(([key, { external, name, ...settings }]) => {
      if (!external) return [key, { ...settings, name: name ?? `${project}_${key}` }];
      const [extra] = Object.keys(settings);
      if (extra !== undefined) {
        fail(loading, `${section}.${key}.${extra}`, "must not be given together with external");
      }
      const given = typeof external === "object" ? external.name : undefined;
      return [key, { name: given ?? name ?? key, external: true }];
    }),
  ) as unknown as Record<string, Part<T>>;

const network = part(object({
  name,
  driver: name,
  driver_opts: mapOf(anyText),
  ipam: object({
    driver: name,
    config: exactList(object({
      subnet: cidr,
      ip_range: cidr,
      gateway: ip,
      aux_addresses: mapOf(ip),
    })),
    options: mapOf(anyText),
  }),
  external,
  internal: boolean,
  enable_ipv4: boolean,
  enable_ipv6: boolean,
  attachable: boolean,
  labels: strings,
}));

/**
 * The options of the local driver for a directory of the host, whose path may be relative. Whether
 * `BIND_ALLOW` allows it is known when all files are merged.
 */
const volumeOptions: Reader<Record<string, string>> = (node, path, scope) => {
  const read = mapOf(anyText)(node, path, scope);
  if (!read?.device || !/(?:^|,)r?bind(?:,|$)/.test(read.o ?? "")) return read;
  const device = parsed((value) => resolvePath(value, scope), () => read.device)(node, path, scope);
  if (device === undefined) return undefined;
  if (!isAbsolutePath(device)) checkMounted(device, `${path}.device`, scope);
  return { ...read, device };
};

/** A file of the host that is mounted; without a directory, one of the sources. */
const mountedFile: Reader<string> = (node, path, scope) => {
  const file = hostPath(node, path, scope);
  if (file !== undefined && isAbsolutePath(file)) checkMounted(file, path, scope);
  return file;
};

const volume = part(object({
  name,
  driver: name,
  driver_opts: volumeOptions,
  external,
  labels: strings,
}));

const file = {
  name,
  file: mountedFile,
  environment: name,
  external,
  labels: strings,
  driver: name,
  driver_opts: mapOf(anyText),
  template_driver: name,
};

const secret = part(object(file));
const config = part(object({ ...file, content: longText }));

/** Files that are merged, and then included. */
export interface Include {
  path: string[];
  env_file?: string[];
  /** For relative paths; by default the directory of the first file. */
  project_directory?: string;
}

const include: Reader<Include> = byKind({
  scalar: parsed((file) => ({ path: [file] }), name),
  map: object(
    { path: oneOrList(name), env_file: oneOrList(name), project_directory: name },
    { required: ["path"] },
  ) as Reader<Include>,
});

const version: Reader<string> = (node, path, scope) => {
  warn(scope, path, "is obsolete and has no effect; remove it");
  return textOrNumber(node, path, scope);
};

/** All keys except `services`, which may `extends` each other and are read one by one. */
export const PROJECT_KEYS = {
  version,
  name: format(
    /^[a-z0-9][a-z0-9_-]*$/,
    "must have lowercase letters, digits, dashes and underscores only, and begin with a letter " +
      "or digit",
  ),
  include: exactList(include),
  networks: named(network),
  volumes: named(volume),
  secrets: named(secret),
  configs: named(config),
  jobs: impossible("are not supported; use a service and a schedule"),
  /** Whether it matters depends on the services, see `resolveProject()`. */
  models: present,
};

export type Network = NonNullable<ReturnType<typeof network>>;
export type Volume = NonNullable<ReturnType<typeof volume>>;
export type Secret = NonNullable<ReturnType<typeof secret>>;
export type Config = NonNullable<ReturnType<typeof config>>;
