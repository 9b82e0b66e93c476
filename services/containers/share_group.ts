/**
 * Containers that share a namespace (network, processes, memory) of another one or are linked to it.
 * The engine binds them to that container by id: they lose the namespace when it is replaced, and
 * cannot start while it is down.
 *
 * @module
 */

import { includesContainer, type Scope } from "../access/scope.ts";
import { AppError } from "../errors.ts";
import type { Container } from "./inventory.ts";
import type { Identity } from "./reservations.ts";
import { startOrder } from "./order.ts";

/** The fields of a container that name the containers it depends on. */
type Sharer = Identity & Pick<Container, "shares" | "links">;

/** Length of the shortest ids in references. */
const SHORT_ID_LENGTH = 12;

/** Whether `ref` (an id, a prefix of an id or a name) refers to the container. */
export function refersTo(ref: string, { id, name }: Identity): boolean {
  return ref === name || (ref.length >= SHORT_ID_LENGTH && id.startsWith(ref));
}

const sharesNamespaceOf = ({ shares }: Sharer, other: Identity): boolean =>
  shares.some((ref) => refersTo(ref, other));

/** Whether it shares a namespace of the other container, or is linked to it. */
export const dependsOn = (container: Sharer, other: Identity): boolean =>
  sharesNamespaceOf(container, other) || container.links.some((ref) => refersTo(ref, other));

/** All other containers that share namespaces with this one, in either direction and transitively. */
export function shareGroup<T extends Sharer>(container: Sharer, all: readonly T[]): T[] {
  return reachable(
    [container],
    all,
    (member, other) => sharesNamespaceOf(member, other) || sharesNamespaceOf(other, member),
  );
}

/** The containers that depend on this one, directly or transitively, in topological order. */
export const dependentsOf = <T extends Sharer>(container: Sharer, all: readonly T[]): T[] =>
  dependentsOfAny([container], all);

/** The other containers that depend on any of these, as {@linkcode dependentsOf}. */
export function dependentsOfAny<T extends Sharer>(
  containers: readonly Sharer[],
  all: readonly T[],
): T[] {
  const dependents = reachable(containers, all, (member, other) => dependsOn(other, member));
  const byId = new Map(dependents.map((dependent) => [dependent.id, dependent]));
  const order = startOrder(
    new Map(dependents.map((dependent) => [
      dependent.id,
      dependents.filter((other) => dependsOn(dependent, other)).map(({ id }) => id),
    ])),
  );
  return order.flat().map((id) => byId.get(id)!);
}

/**
 * Refuses an action that would take something away from containers outside of an API token's scope.
 *
 * @throws {AppError} `forbidden`
 */
export function assertDependentsInScope(
  scope: Scope | undefined,
  container: Container,
  all: readonly Container[],
): void {
  if (dependentsOf(container, all).every((each) => includesContainer(scope, each))) return;
  throw new AppError(
    "forbidden",
    `Containers that this token cannot access depend on ${container.name}`,
  );
}

function reachable<T extends Sharer>(
  starts: readonly Sharer[],
  all: readonly T[],
  isNext: (member: Sharer, other: T) => boolean,
): T[] {
  const found = new Map<string, T>();
  const started = new Set(starts.map(({ id }) => id));
  const pending: Sharer[] = [...starts];
  for (let member = pending.pop(); member; member = pending.pop()) {
    for (const other of all) {
      if (started.has(other.id) || found.has(other.id) || !isNext(member, other)) continue;
      found.set(other.id, other);
      pending.push(other);
    }
  }
  return [...found.values()];
}
