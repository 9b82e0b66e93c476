/** Compose files: the text, and those that it includes and extends. @module */

import { dirname, join, normalize } from "node:path";
import { type EnvFile, parseEnvFile } from "./env_file.ts";
import { interpolateFile } from "./interpolate.ts";
import { mergeParts } from "./merge.ts";
import {
  type Config,
  type Include,
  type Network,
  PROJECT_KEYS,
  type Secret,
  type Volume,
} from "./project_keys.ts";
import { entriesOf, object } from "./collections.ts";
import { failAt, type Reader } from "./reader.ts";
import {
  CHARACTERS_PER_UNIT,
  fail,
  type Loading,
  type Lookup,
  quote,
  type Scope,
  spend,
} from "./scope.ts";
import { service, type WrittenService } from "./service_keys.ts";
import type { MapNode, Node } from "./nodes.ts";
import { parseYaml } from "./yaml_tree.ts";

/** Contents of a project's files; references are not checked. */
export interface WrittenProject {
  name?: string;
  services: Record<string, WrittenService>;
  networks: Record<string, Network>;
  volumes: Record<string, Volume>;
  secrets: Record<string, Secret>;
  configs: Record<string, Config>;
  /** Whether there are models, which the engine cannot run. */
  models?: true;
}

/** Content of a file, with its source. */
interface ReadProject {
  project: WrittenProject;
  tree?: MapNode;
}

const SECTIONS = ["services", "networks", "volumes", "secrets", "configs"] as const;

/** Maximum number of services, which `extends` and `include` may multiply. */
const SERVICES_MAX = 500;

/** Maximum number of files that include or extend each other. */
const CHAIN_MAX = 10;

/** A Compose file, the services of which are read when they are needed. */
interface ComposeFile {
  scope: Scope;
  tree: MapNode;
  /** Prefix of the paths of its issues. */
  prefix: string;
  /** The services that were read, with what they extend. */
  services: Map<string, WrittenService | undefined>;
}

/**
 * Reads the Compose text and everything that it includes.
 *
 * @param overrides Files that are merged into it, as with several `--file` of Compose.
 */
export async function readProject(
  compose: string,
  overrides: readonly string[] = [],
  loading: Loading,
  lookup: Lookup,
): Promise<WrittenProject> {
  const scope = { ...loading, file: null, base: loading.directory ?? "", lookup };
  const { project } = await readFile(compose, scope, []);
  for (const path of overrides) {
    const text = readText(path, "", scope);
    if (text === undefined) continue;
    const over = await readFile(text, { ...scope, file: projectPath(path, loading) }, [path]);
    overrideProject(project, over, scope);
  }
  return project;
}

/** @param chain The files that include this one. */
async function readFile(
  text: string,
  scope: Scope,
  chain: readonly string[],
): Promise<ReadProject> {
  const project = emptyProject();
  const file = await openFile(text, scope, "");
  if (!file) return { project };
  const { include = [], version: _, ...parts } = topLevel(file.tree, "", scope) ?? {};
  for (const [index, each] of include.entries()) {
    addProject(project, await readInclude(each, `include[${index}]`, scope, chain), scope);
  }
  const services = servicesOf(file);
  const names = services ? entriesOf(services, "services", scope) : [];
  const own = emptyProject();
  for (const [name, , path, key] of names) {
    if (!SERVICE_NAME.test(name)) {
      fail(scope, path, "must have letters, digits, dots, dashes and underscores only", key);
    }
    await scope.pause();
    const read = await readService(file, name, []);
    if (read) own.services[name] = read;
  }
  addProject(project, { ...own, ...parts }, scope);
  if (parts.name !== undefined) project.name = parts.name;
  return { project, tree: file.tree };
}

const SERVICE_NAME = /^[a-zA-Z0-9._-]+$/;

/** The top level; services are read one by one. */
const topLevel = object({ ...PROJECT_KEYS, services: (() => undefined) as Reader<never> }, {
  instead: { service: "is unknown; did you mean services?" },
});

async function openFile(
  text: string,
  scope: Scope,
  prefix: string,
): Promise<ComposeFile | undefined> {
  const start = { file: scope.file, line: 1, column: 1 };
  spend(scope, Math.ceil(text.length / CHARACTERS_PER_UNIT), prefix, start);
  const errors = scope.errors.length;
  const written = await parseYaml(text, scope.file, scope);
  if (!written) {
    if (scope.errors.length === errors) fail(scope, prefix, "has nothing in it", start);
    return undefined;
  }
  const tree = await interpolateFile(written, scope, scope.lookup);
  if (tree.kind !== "map") return failAt(tree, prefix, scope, "must be a map with services");
  return { scope, tree, prefix, services: new Map() };
}

/**
 * Reads a service and what it extends.
 *
 * @param chain The services that extend this one.
 */
async function readService(
  file: ComposeFile,
  name: string,
  chain: readonly string[],
): Promise<WrittenService | undefined> {
  const { scope, prefix, services } = file;
  if (services.has(name)) return services.get(name);
  const path = `${prefix}services.${name}`;
  const node = serviceNode(file, name);
  if (!node) return undefined;
  if (services.size >= SERVICES_MAX) {
    return failAt(node, path, scope, `is one too many: limit of ${SERVICES_MAX} services reached`);
  }
  const read = service(node, path, scope) ?? (failAt(node, path, scope, "must be a map"), {});
  const extended = read.extends && await readExtended(file, read.extends, path, [...chain, path]);
  const { extends: _, ...own } = read;
  const merged = extended ? merge(extended, own, node, path, scope) : own;
  services.set(name, merged);
  return merged;
}

/** Merges a service or another part over the one before. */
function merge<T extends object>(
  base: T,
  over: T,
  written: Node | undefined,
  path: string,
  scope: Scope,
): T {
  spend(scope, JSON.stringify(base).length / CHARACTERS_PER_UNIT, path);
  return mergeParts(base, over, written?.kind === "map" ? written : undefined);
}

function servicesOf({ tree }: ComposeFile): Node | undefined {
  const services = tree.entries.get("services")?.value;
  return services?.mark === "reset" ? undefined : services;
}

function serviceNode(file: ComposeFile, name: string): Node | undefined {
  const services = servicesOf(file);
  const node = services?.kind === "map" ? services.entries.get(name)?.value : undefined;
  return node?.mark === "reset" ? undefined : node;
}

async function readExtended(
  file: ComposeFile,
  { service, file: other }: { service: string; file?: string },
  path: string,
  chain: readonly string[],
): Promise<WrittenService | undefined> {
  const { scope } = file;
  const at = `${path}.extends`;
  const source = other === undefined ? file : await openExtended(file, other, at);
  if (!source) return undefined;
  const target = `${source.prefix}services.${service}`;
  if (chain.includes(target)) {
    return fail(scope, at, `extends itself: ${[...chain, target].map(quote).join(", ")}`);
  }
  if (chain.length > CHAIN_MAX) {
    return fail(scope, at, `has a chain of more than ${CHAIN_MAX} services`);
  }
  if (!serviceNode(source, service)) {
    return fail(scope, at, `service ${quote(service)} does not exist`);
  }
  return await readService(source, service, chain);
}

async function openExtended(
  { scope }: ComposeFile,
  name: string,
  path: string,
): Promise<ComposeFile | undefined> {
  if (isRemote(name)) return fail(scope, path, REMOTE);
  const file = locate(scope.base, name);
  const text = readText(file, path, scope);
  if (text === undefined) return undefined;
  return await openFile(text, { ...scope, file, base: dirname(file) }, `${file}:`);
}

async function readInclude(
  { path, env_file = [], project_directory }: Include,
  at: string,
  scope: Scope,
  chain: readonly string[],
): Promise<WrittenProject> {
  const project = emptyProject();
  if (path.some(isRemote)) {
    fail(scope, at, REMOTE);
    return project;
  }
  const files = path.map((name) => locate(scope.base, name));
  const first = files[0] ?? "";
  const base = project_directory === undefined
    ? dirname(first)
    : locate(scope.base, project_directory);
  const lookup = includedLookup(scope, env_file, base, at);
  for (const file of files) {
    if (chain.includes(file) || chain.length >= CHAIN_MAX) {
      fail(
        scope,
        at,
        `includes itself, or more than ${CHAIN_MAX} files in a chain: ${quote(file)}`,
      );
      continue;
    }
    const text = readText(file, at, scope);
    if (text === undefined) continue;
    const read = await readFile(text, { ...scope, file, base, lookup }, [...chain, file]);
    overrideProject(project, read, scope);
  }
  return project;
}

const REMOTE = "remote files are not supported; copy the file to the project";

/** Whether Compose would get the file from a registry or a repository. */
const isRemote = (name: string) =>
  /^(?:[A-Za-z][A-Za-z0-9+.-]{0,20}:\/\/|git@|github\.com\/)/.test(name);

/** An env file that says that there is none. */
const NO_FILE = "/dev/null";

/** The project's variables, then those of the included directory. */
function includedLookup(scope: Scope, names: readonly string[], base: string, at: string): Lookup {
  const files = names.filter((name) => name !== NO_FILE).map((name) => locate(scope.base, name));
  const texts = names.length > 0
    ? files.map((file) => [file, readText(file, at, scope)] as const)
    : [[join(base, ".env"), scope.readFile(projectPath(join(base, ".env"), scope))] as const];
  const variables: EnvFile = new Map();
  for (const [file, text] of texts) {
    if (text !== undefined) parseEnvFile(text, file, at, scope, scope.lookup, variables);
  }
  return (name) => scope.lookup(name) ?? variables.get(name);
}

/** Reads a file of the project; `undefined` after an error. */
export function readText(path: string, at: string, scope: Loading): string | undefined {
  const text = scope.readFile(projectPath(path, scope));
  if (text === undefined) return fail(scope, at, `file ${quote(path)} does not exist`);
  spend(scope, Math.ceil(text.length / CHARACTERS_PER_UNIT), at);
  return text;
}

/** The name of a file among those of the project: relative to its directory, if it is in there. */
export function projectPath(path: string, { directory }: Loading): string {
  const isInside = directory !== null && path.startsWith(`${directory}/`);
  return isInside ? path.slice(directory.length + 1) : path.replace(/^\.\//, "");
}

const locate = (base: string, name: string) =>
  name.startsWith("/") ? normalize(name) : normalize(join(base, name));

const emptyProject = (): WrittenProject => ({
  services: {},
  networks: {},
  volumes: {},
  secrets: {},
  configs: {},
});

/** Adds the parts of another file. The same part in two files must be equal. */
function addProject(project: WrittenProject, added: Partial<WrittenProject>, scope: Scope): void {
  for (const section of SECTIONS) {
    const parts = project[section] as Record<string, unknown>;
    for (const [name, part] of Object.entries(added[section] ?? {})) {
      if (Object.hasOwn(parts, name) && canonical(parts[name]) !== canonical(part)) {
        fail(scope, `${section}.${name}`, "is also in an included file, with other settings");
      }
      parts[name] = part;
    }
  }
  if (added.models) project.models = true;
}

/** JSON that does not depend on the order of keys. */
const canonical = (value: unknown) =>
  JSON.stringify(
    value,
    (_, inner) =>
      inner instanceof Object && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => a < b ? -1 : 1))
        : inner,
  );

/** Merges a file over those before it. */
function overrideProject(
  project: WrittenProject,
  { project: over, tree }: ReadProject,
  scope: Scope,
): void {
  if (over.name !== undefined) project.name = over.name;
  if (over.models) project.models = true;
  for (const section of SECTIONS) {
    const node = tree?.entries.get(section)?.value;
    const written: MapNode["entries"] = node?.kind === "map" ? node.entries : new Map();
    const parts = node?.mark ? {} : project[section] as Record<string, object>;
    for (const [name, { value }] of written) if (value.mark) delete parts[name];
    for (const [name, part] of Object.entries(over[section])) {
      const base = Object.hasOwn(parts, name) ? parts[name] : undefined;
      const path = `${section}.${name}`;
      parts[name] = base ? merge(base, part, written.get(name)?.value, path, scope) : part;
    }
    Object.assign(project, { [section]: parts });
  }
}
