/**
 * Locks for containers with a running action. Only one action at a time may change a container and
 * the containers that share its namespaces; a second one is refused with the name of the first.
 *
 * @module
 */

import { AppError } from "../errors.ts";

/** Participle of an action, for use after "is being". */
export type Activity =
  | "started"
  | "stopped"
  | "restarted"
  | "paused"
  | "resumed"
  | "killed"
  | "renamed"
  | "updated"
  | "rebuilt"
  | "backed up"
  | "restored"
  | "written"
  | "deployed"
  | "removed";

/**
 * A container as reservations compare it: by id and by name, because a rebuild changes the id and,
 * for a moment, the name.
 */
export interface Identity {
  id: string;
  name: string;
}

const VOLUMES = "/volumes";
const DIRECTORIES = "/directories";

/** A volume as reservations compare it: by the path that it has in snapshots. */
export const volumeIdentity = (volume: string): Identity => {
  const path = `${VOLUMES}/${volume}`;
  return { id: path, name: path };
};

/** A directory or file of the host, the same way. */
export const directoryIdentity = (absolute: string): Identity => {
  const path = `${DIRECTORIES}${absolute}`;
  return { id: path, name: path };
};

interface ReserveOptions {
  /** Containers that the action affects besides its target. */
  affected?: readonly Identity[];
  /**
   * Reservations of the same operation (a bulk action, a stack) do not exclude each other. Default:
   * a new operation.
   */
  operation?: Operation | undefined;
}

/** The identity of an operation; see {@linkcode ReserveOptions}. */
export type Operation = symbol;

/** Several actions may use a volume or directory; one that replaces or removes it excludes them. */
const SHARED: Operation = Symbol("shared");

/**
 * Reserves volumes and directories that an action uses.
 *
 * @throws {AppError} `conflict` while one is replaced or removed.
 */
export function reserveUsed(
  reservations: Reservations,
  [first, ...affected]: readonly Identity[],
  activity: Activity,
): Reservation | undefined {
  return first && reservations.reserve(first, activity, { affected, operation: SHARED });
}

/** Reserved containers; disposing releases them. */
export interface Reservation extends Disposable {
  /** Reserves more containers for the same action. @throws {AppError} `conflict` */
  add(affected: readonly Identity[]): void;
}

/** One action and its containers. */
interface Holder {
  target: string;
  activity: Activity;
  operation: Operation;
  containers: Identity[];
}

export type Reservations = ReturnType<typeof createReservations>;

export function createReservations() {
  const holders = new Set<Holder>();
  const replaced = new Set<readonly Identity[]>();

  const holderOf = ({ id, name }: Identity, except?: Operation) =>
    [...holders].find(({ operation, containers }) =>
      operation !== except && containers.some((held) => held.id === id || held.name === name)
    );
  const assertFree = (containers: readonly Identity[], operation: Operation) => {
    for (const container of containers) {
      const holder = holderOf(container, operation);
      if (holder) throw new AppError("conflict", sentence(holder, container));
    }
  };

  return {
    /**
     * Reserves a container for an action.
     *
     * @throws {AppError} `conflict` with the running action; then nothing is reserved.
     */
    reserve(
      target: Identity,
      activity: Activity,
      { affected = [], operation = Symbol() }: ReserveOptions = {},
    ): Reservation {
      const containers = [target, ...affected];
      assertFree(containers, operation);
      const holder: Holder = { target: target.name, activity, operation, containers };
      holders.add(holder);
      return {
        add(more) {
          assertFree(more, operation);
          containers.push(...more);
        },
        [Symbol.dispose]: () => void holders.delete(holder),
      };
    },
    /** Returns the running action, e.g. "web is being rebuilt"; `undefined` without one. */
    find(container: Identity): string | undefined {
      const holder = holderOf(container);
      return holder && sentence(holder, container);
    },
    /**
     * Marks containers that a job replaces and judges, until the result is disposed: the job reports
     * how they end. Others that it has reserved fail for themselves.
     */
    markReplaced(containers: readonly Identity[]): Disposable {
      const own = [...containers];
      replaced.add(own);
      return { [Symbol.dispose]: () => void replaced.delete(own) };
    },
    isReplaced: ({ id, name }: Identity): boolean =>
      replaced.values().some((all) => all.some((each) => each.id === id || each.name === name)),
  };
}

const describe = ({ target, activity }: Holder) => `${target} is being ${activity}`;

function sentence(holder: Holder, { name }: Identity): string {
  return name === holder.target
    ? describe(holder)
    : `${describe(holder)}, which also affects ${name}`;
}
