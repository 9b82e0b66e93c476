/**
 * Secrets and configs of a Swarm stack. They cannot change, so that each content has its own name,
 * which ends with a keyed hash.
 *
 * @module
 */

import { serviceList } from "../../../engine/swarm.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { STACK_LABEL } from "../../swarm/services.ts";
import { KEY_LABEL, OPERATIONS, VALUE_KINDS, type ValueKind } from "../../swarm/values.ts";
import type { LoadedStack } from "../plan/stored.ts";
import type { ValueNames } from "./spec.ts";

const HASH_DIGITS = 12;
const NAME_MAX = 64;

/** A secret or config of the Compose file that some service uses. */
export interface StackValue {
  kind: ValueKind;
  key: string;
  /** On the engine. */
  name: string;
  /** `null` for an external one. */
  content: string | null;
  labels: Record<string, string>;
}

type Loaded = Pick<LoadedStack, "contents" | "project">;

/** @throws {AppError} `conflict` for a file that only the host has. */
export async function valuesOf(
  { secrets }: Pick<Deps, "secrets">,
  { contents, project }: Loaded,
): Promise<StackValue[]> {
  const values: StackValue[] = [];
  for (const kind of VALUE_KINDS) {
    const section = `${kind}s` as const;
    const used = new Set(
      Object.values(project.services).flatMap((each) => (each[section] ?? []).map((g) => g.source)),
    );
    for (const [key, part] of Object.entries(project[section])) {
      if (!used.has(key)) continue;
      const labels = { ...part.labels, [STACK_LABEL]: project.name, [KEY_LABEL]: key };
      if (part.external) {
        values.push({ kind, key, name: part.name, content: null, labels });
        continue;
      }
      const content = contents.get(`${section}.${key}`);
      if (content === undefined) throw unreadable(section, key);
      const hash = await hashOf(secrets, content);
      const name = `${part.name.slice(0, NAME_MAX - HASH_DIGITS - 1)}-${hash}`;
      values.push({ kind, key, name, content, labels });
    }
  }
  return values;
}

const unreadable = (section: string, key: string) =>
  new AppError(
    "conflict",
    `${section}.${key} has a file of the host or a driver, which a Swarm stack cannot use here; ` +
      "store the file among the sources",
  );

async function hashOf(secrets: Deps["secrets"], content: string): Promise<string> {
  const fingerprint = await secrets.fingerprint(content);
  return Uint8Array.fromBase64(fingerprint, { alphabet: "base64url" }).toHex()
    .slice(0, HASH_DIGITS);
}

export const namesOf = (values: readonly StackValue[]): ValueNames =>
  new Map(values.map(({ kind, key, name }) => [`${kind}s.${key}`, name]));

/**
 * Ids of those that exist on the engine, by their kind and name, e.g. `secret shop_key-1f2e3d4c5b6a`.
 *
 * @throws {AppError} `conflict` for one that no deploy has created: its content may be any.
 */
export async function readIds(
  { engine }: Pick<Deps, "engine">,
  values: readonly StackValue[],
): Promise<Map<string, string>> {
  const ids = new Map<string, string>();
  const wanted = new Map(values.map((each) => [`${each.kind} ${each.name}`, each]));
  for (const kind of new Set(values.map((each) => each.kind))) {
    for (const { ID, Spec: { Name, Labels } } of await OPERATIONS[kind].list(engine)) {
      const value = wanted.get(`${kind} ${Name}`);
      if (!value) continue;
      if (value.content !== null && Labels?.[KEY_LABEL] === undefined) throw foreign(kind, Name);
      ids.set(`${kind} ${Name}`, ID);
    }
  }
  return ids;
}

const foreign = (kind: ValueKind, name: string) =>
  new AppError(
    "conflict",
    `${
      OPERATIONS[kind].what
    } ${name} was not created by a deploy, so that its content is unknown; ` +
      "delete it, and deploy again",
  );

/**
 * The missing ones, which a deploy creates.
 *
 * @throws {AppError} `conflict` for an external one that does not exist, and as {@linkcode readIds}.
 */
export async function readMissing(
  deps: Pick<Deps, "engine">,
  values: readonly StackValue[],
): Promise<(StackValue & { content: string })[]> {
  const ids = await readIds(deps, values);
  return values.filter(({ kind, name }) => !ids.has(`${kind} ${name}`)).map((value) => {
    const { kind, name, content } = value;
    if (content !== null) return { ...value, content };
    throw new AppError("conflict", `The external ${kind} ${name} does not exist`);
  });
}

/** Creates the missing ones. @throws {AppError} As {@linkcode readMissing}. */
export async function createValues(
  { engine }: Pick<Deps, "engine">,
  values: readonly StackValue[],
): Promise<void> {
  for (const { kind, name, content, labels } of await readMissing({ engine }, values)) {
    const Data = new TextEncoder().encode(content).toBase64();
    await OPERATIONS[kind].create(engine, { Name: name, Labels: labels, Data });
  }
}

/** Removes those of earlier deploys. A service may still roll back to one. */
export async function removeUnusedValues(
  { engine }: Pick<Deps, "engine">,
  stack: string,
  values: readonly StackValue[],
): Promise<void> {
  const services = await serviceList(engine);
  for (const kind of VALUE_KINDS) {
    const { grants, id, list, remove } = OPERATIONS[kind];
    const used = new Set(
      services.flatMap(({ Spec, PreviousSpec }) =>
        [Spec, PreviousSpec].flatMap((spec) =>
          (spec?.TaskTemplate?.ContainerSpec?.[grants] ?? []).map((grant) => grant[id])
        )
      ),
    );
    const current = new Set(values.filter((each) => each.kind === kind).map(({ name }) => name));
    for (const { ID, Spec } of await list(engine)) {
      const isOwn = Spec.Labels?.[STACK_LABEL] === stack && Spec.Labels[KEY_LABEL] !== undefined;
      if (isOwn && !used.has(ID) && !current.has(Spec.Name)) await remove(engine, ID);
    }
  }
}
