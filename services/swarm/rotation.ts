/** Rotation of a secret or config: a new one with the new value, to which its services move. @module */

import { ifThere } from "../../engine/errors.ts";
import { serviceList, type ServiceSpec } from "../../engine/swarm.ts";
import type { SwarmValue } from "../../engine/swarm_values.ts";
import type { Caller } from "../access/caller.ts";
import type { Identity } from "../containers/reservations.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { JobEnd, type JobRun, type NamedJobKind } from "../jobs/kind.ts";
import { startJob } from "../jobs/runner.ts";
import type { JobView } from "../jobs/view.ts";
import { onManager } from "./access.ts";
import { changeService } from "./change_steps.ts";
import { assertNoneOwn } from "./own_service.ts";
import { reserveServices } from "./reserved.ts";
import { withRollback } from "./service_jobs.ts";
import {
  BASE_LABEL,
  createValue,
  findValue,
  KEY_LABEL,
  OPERATIONS,
  usersOf,
  type ValueKind,
} from "./values.ts";

interface RotationInput {
  kind: ValueKind;
  from: { id: string; name: string };
  to: { id: string; name: string };
  /** Ids of the services that used it. */
  services: string[];
  /** The same with their names; missing in jobs of older versions. */
  affected?: Identity[];
}

interface RotationResult {
  id: string;
  name: string;
  /** Number of services that moved. */
  services: number;
  /** Whether the old one could be removed. */
  removed: boolean;
}

/** Longest name of a secret or config. */
const NAME_MAX = 64;

/** Digits of the hash in a name. */
const HASH_DIGITS = 12;

/**
 * Creates a secret or config with the new value at once, because the value is stored nowhere here,
 * and moves the services in a job.
 *
 * @throws {AppError} `not_found`; `invalid` for the value; `conflict` if it has this value already,
 * another job changes it or a service that uses it, Longshore itself uses it, it belongs to a stack or
 * another store, and on an engine that does not manage a swarm.
 */
export async function rotateValue(
  deps: Deps,
  caller: Caller,
  kind: ValueKind,
  ref: string,
  value: Uint8Array,
): Promise<JobView> {
  const [old, services] = await onManager(deps, async () =>
    [
      await findValue(deps, kind, ref),
      await serviceList(deps.engine),
    ] as const);
  const users = usersOf(kind, old, services);
  assertNoneOwn(deps, users);
  assertRotatable(kind, old);
  const { isNew, ...to } = await createOrFind(deps, kind, old, value);
  try {
    return startJob(deps, ROTATIONS[kind], {
      target: old.Spec.Name,
      input: {
        kind,
        from: { id: old.ID, name: old.Spec.Name },
        to,
        services: users.map(({ ID }) => ID),
        affected: users.map(({ ID, Spec }) => ({ id: ID, name: Spec.Name ?? ID })),
      },
      caller,
    }).job;
  } catch (error) {
    if (isNew) await OPERATIONS[kind].remove(deps.engine, to.id);
    throw error;
  }
}

function assertRotatable(kind: ValueKind, { Spec }: SwarmValue): void {
  const { what } = OPERATIONS[kind];
  if (Spec.Driver?.Name) {
    throw new AppError("conflict", `${what} ${Spec.Name} is in another store; change it there`);
  }
  if (Spec.Labels?.[KEY_LABEL] === undefined) return;
  throw new AppError(
    "conflict",
    `${what} ${Spec.Name} belongs to a stack; change it in the stack's sources`,
  );
}

/** The value with its name; one that an interrupted rotation has left is used again. */
async function createOrFind(
  deps: Deps,
  kind: ValueKind,
  old: SwarmValue,
  value: Uint8Array,
): Promise<{ id: string; name: string; isNew: boolean }> {
  const base = baseOf(old);
  const name = `${base.slice(0, NAME_MAX - HASH_DIGITS - 1)}-${await hashOf(deps, value)}`;
  const left = (await OPERATIONS[kind].list(deps.engine)).find(({ ID, Spec }) =>
    ID !== old.ID && Spec.Name === name && Spec.Labels?.[BASE_LABEL] === base
  );
  if (left) return { id: left.ID, name, isNew: false };
  const labels = { ...old.Spec.Labels, [BASE_LABEL]: base };
  const templating = old.Spec.Templating;
  const { id } = await createValue(deps, kind, { name, value, labels, templating });
  return { id, name, isNew: true };
}

/** The name before the first rotation. */
const baseOf = ({ Spec }: SwarmValue) => Spec.Labels?.[BASE_LABEL] ?? Spec.Name;

/** Keyed, so that the name does not help to guess the value. */
async function hashOf({ secrets }: Pick<Deps, "secrets">, value: Uint8Array): Promise<string> {
  const fingerprint = await secrets.fingerprint(value.toBase64());
  return Uint8Array.fromBase64(fingerprint, { alphabet: "base64url" }).toHex()
    .slice(0, HASH_DIGITS);
}

const rotationKind = (kind: ValueKind): NamedJobKind<RotationInput, RotationResult> => ({
  id: `${kind}.rotate`,
  group: "Swarm",
  title: "Rotation",
  running: "Rotating {target}",
  isListed: true,
  steps: {
    read: "Read a service",
    change: "Change the service",
    wait: "Wait until its tasks run",
    remove: `Remove the old ${kind}`,
  },
  targetType: kind,
  role: "admin",
  permission: "swarm_secrets:write",
  outlivesEngine: true,
  reserve: reserveServices("updated"),
  run: rotate,
  recover: rotate,
});

export const secretRotationKind = rotationKind("secret");
export const configRotationKind = rotationKind("config");
const ROTATIONS = { secret: secretRotationKind, config: configRotationKind };

async function rotate(deps: Deps, job: JobRun<RotationInput>): Promise<RotationResult> {
  const { input: { from, kind, services, to } } = job;
  for (const [index, id] of services.entries()) {
    try {
      await changeService(deps, job, id, (spec) => moved(spec, job.input), { number: index + 1 });
    } catch (error) {
      if (!(error instanceof JobEnd)) throw error;
      throw await stopped(deps, job.input, index, error);
    }
  }
  const removed = await job.step("remove", () => removeUnused(deps, kind, from.id));
  return { ...to, services: services.length, removed };
}

/** @returns Whether no service uses it any more. */
async function removeUnused({ engine }: Deps, kind: ValueKind, id: string): Promise<boolean> {
  const isUsed = usersOf(kind, { ID: id }, await serviceList(engine)).length > 0;
  if (!isUsed) await ifThere(OPERATIONS[kind].remove(engine, id));
  return !isUsed;
}

/** Removes the new value if no service uses it. Services that moved keep it. */
async function stopped(
  deps: Deps,
  { from, kind, to, services }: RotationInput,
  done: number,
  { message, status }: JobEnd,
): Promise<JobEnd> {
  if (done === 0 && status === "rolled_back") {
    await removeUnused(deps, kind, to.id);
    return new JobEnd(status, message);
  }
  const kept = `${done} of ${services.length} services use ${to.name}, the others ${from.name}`;
  return new JobEnd("needs_attention", `${kept}: ${message}`);
}

/** The path of the file in containers stays. */
function moved(spec: ServiceSpec, { from, kind, to }: RotationInput): ServiceSpec {
  const { grants, id, name } = OPERATIONS[kind];
  const { ContainerSpec } = spec.TaskTemplate ?? {};
  return withRollback({
    ...spec,
    TaskTemplate: {
      ...spec.TaskTemplate,
      ContainerSpec: {
        ...ContainerSpec,
        [grants]: (ContainerSpec?.[grants] ?? []).map((grant) =>
          grant[id] === from.id ? { ...grant, [id]: to.id, [name]: to.name } : grant
        ),
      },
    },
  });
}
