/** Secrets and configs of the swarm: list, create, delete. Their values are never returned. @module */

import { EngineError } from "../../engine/errors.ts";
import { type Service, serviceList, type ServiceSpec } from "../../engine/swarm.ts";
import {
  configCreate,
  configList,
  configRemove,
  type NewSwarmValue,
  secretCreate,
  secretList,
  secretRemove,
  type SwarmValue,
} from "../../engine/swarm_values.ts";
import { engineTime } from "../containers/engine_time.ts";
import type { Deps } from "../deps.ts";
import { AppError, notFound } from "../errors.ts";
import { compareNatural } from "../text/natural_order.ts";
import { onManager } from "./access.ts";
import { STACK_LABEL } from "./services.ts";

export const VALUE_KINDS = ["secret", "config"] as const;
export type ValueKind = (typeof VALUE_KINDS)[number];

/** The engine's operations and words of each kind. */
export const OPERATIONS = {
  secret: {
    list: secretList,
    create: secretCreate,
    remove: secretRemove,
    what: "Secret",
    bytesMax: 500 * 1024,
    grants: "Secrets",
    id: "SecretID",
    name: "SecretName",
  },
  config: {
    list: configList,
    create: configCreate,
    remove: configRemove,
    what: "Config",
    bytesMax: 1000 * 1024,
    grants: "Configs",
    id: "ConfigID",
    name: "ConfigName",
  },
} as const;

/** Label of a value of a stack: the key in the Compose file. */
export const KEY_LABEL = "longshore.value";

/** Label of a value that replaced another one: the name without the hash. */
export const BASE_LABEL = "longshore.rotated";

/** Labels by which Longshore knows what it has created; others may not set them. */
export const OWN_LABELS = [KEY_LABEL, BASE_LABEL] as const;

export interface ValueView {
  id: string;
  name: string;
  stack: string | null;
  labels: Record<string, string>;
  /** Names of the services that use it. */
  services: string[];
  createdAt: string | null;
  updatedAt: string | null;
}

export interface NewValue {
  name: string;
  value: Uint8Array;
  labels: Record<string, string>;
  /** The program with which Swarm fills the value in for each task. */
  templating?: SwarmValue["Spec"]["Templating"];
}

type EngineDeps = Pick<Deps, "engine">;

/** By name. @throws {AppError} `conflict` on an engine that does not manage a swarm. */
export function listValues(deps: EngineDeps, kind: ValueKind): Promise<ValueView[]> {
  return onManager(deps, async () => {
    const [values, services] = await Promise.all([
      OPERATIONS[kind].list(deps.engine),
      serviceList(deps.engine),
    ]);
    return values.map((value) => toView(value, usersOf(kind, value, services)))
      .sort((a, b) => compareNatural(a.name, b.name));
  });
}

/**
 * @throws {AppError} `invalid` for an empty value or one that is too large; `conflict` for a name in
 * use, and on an engine that does not manage a swarm.
 */
export async function createValue(
  deps: EngineDeps,
  kind: ValueKind,
  { name, value, labels, templating: Templating }: NewValue,
): Promise<ValueView> {
  const { what, bytesMax, create } = OPERATIONS[kind];
  if (value.length === 0 || value.length > bytesMax) {
    throw new AppError("invalid", `body.value: must have 1 to ${bytesMax} bytes`);
  }
  const body: NewSwarmValue = { Name: name, Labels: labels, Data: value.toBase64(), Templating };
  try {
    const { ID } = await onManager(deps, () => create(deps.engine, body));
    return toView(await findValue(deps, kind, ID), []);
  } catch (error) {
    if (!(error instanceof EngineError && error.status === 409)) throw error;
    throw new AppError("conflict", `${what} ${name} already exists`, { cause: error });
  }
}

/**
 * @throws {AppError} `not_found`; `conflict` with the services that use it, and on an engine that does
 * not manage a swarm.
 */
export function removeValue(
  deps: EngineDeps,
  kind: ValueKind,
  ref: string,
): Promise<{ id: string; name: string }> {
  return onManager(deps, async () => {
    const value = await findValue(deps, kind, ref);
    assertUnused(kind, value, await serviceList(deps.engine));
    await OPERATIONS[kind].remove(deps.engine, value.ID);
    return { id: value.ID, name: value.Spec.Name };
  });
}

/** Most services that a message names. */
const NAMED_MAX = 10;

function assertUnused(kind: ValueKind, value: SwarmValue, services: readonly Service[]): void {
  const users = usersOf(kind, value, services);
  if (users.length === 0) return;
  const others = users.length > NAMED_MAX ? ` and ${users.length - NAMED_MAX} more` : "";
  throw new AppError(
    "conflict",
    `${OPERATIONS[kind].what} ${value.Spec.Name} is used by ` +
      `${users.slice(0, NAMED_MAX).map(nameOf).join(", ")}${others}`,
  );
}

/** @param ref Id or name. @throws {AppError} `not_found` */
export async function findValue(
  { engine }: EngineDeps,
  kind: ValueKind,
  ref: string,
): Promise<SwarmValue> {
  const values = await OPERATIONS[kind].list(engine);
  const found = values.find(({ ID }) => ID === ref) ?? values.find(({ Spec }) => Spec.Name === ref);
  if (!found) throw notFound(OPERATIONS[kind].what, ref);
  return found;
}

/**
 * Checks that the secrets and configs of an earlier specification still exist.
 *
 * @throws {AppError} `conflict` with the first one that is gone.
 */
export async function assertGrantsExist({ engine }: EngineDeps, spec: ServiceSpec): Promise<void> {
  for (const kind of VALUE_KINDS) {
    const { grants, id, list, name, what } = OPERATIONS[kind];
    const used = spec.TaskTemplate?.ContainerSpec?.[grants] ?? [];
    if (used.length === 0) continue;
    const ids = new Set((await list(engine)).map(({ ID }) => ID));
    const gone = used.find((grant) => !ids.has(grant[id] ?? ""));
    if (!gone) continue;
    throw new AppError("conflict", `${what} ${gone[name]} of the earlier version is gone`);
  }
}

/** The services that use a value, by name. */
export function usersOf(
  kind: ValueKind,
  { ID }: Pick<SwarmValue, "ID">,
  services: readonly Service[],
): Service[] {
  const { grants, id } = OPERATIONS[kind];
  return services.filter(({ Spec }) =>
    Spec.TaskTemplate?.ContainerSpec?.[grants]?.some((grant) => grant[id] === ID)
  ).sort((a, b) => compareNatural(nameOf(a), nameOf(b)));
}

const nameOf = ({ ID, Spec }: Service) => Spec.Name ?? ID;

const toView = ({ ID, CreatedAt, UpdatedAt, Spec }: SwarmValue, users: readonly Service[]) => ({
  id: ID,
  name: Spec.Name,
  stack: Spec.Labels?.[STACK_LABEL] ?? null,
  labels: Spec.Labels ?? {},
  services: users.map(nameOf),
  createdAt: engineTime(CreatedAt),
  updatedAt: engineTime(UpdatedAt),
});
