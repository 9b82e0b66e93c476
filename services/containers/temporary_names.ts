/**
 * Containers to which a replacement gave a temporary name. Only their recorded ids count: others may
 * choose a name of this form, which must not hide their containers or change what is said of others.
 *
 * @module
 */

import type { Database } from "../../db/database.ts";
import {
  deleteTemporaryName,
  selectTemporaryNames,
  upsertTemporaryName,
} from "../../db/temporary_names.ts";
import { readMark } from "./marks.ts";
import type { Identity } from "./reservations.ts";

export interface TemporaryNames {
  /** Records the original name of a container, before the engine gives it a temporary one. */
  record(original: Identity): void;
  /** The name that the container had before, or will have; its name if that is not a temporary one. */
  originalOf(container: Identity): string;
  /** Ids of the recorded containers. */
  ids(): string[];
  /** Forgets a container that no longer exists. */
  forget(id: string): void;
}

/** @param db Keeps the names; without it, they are lost at the end of the process. */
export function createTemporaryNames(db?: Database): TemporaryNames {
  const names = new Map(
    (db ? selectTemporaryNames(db) : []).map(({ containerId, name }) => [containerId, name]),
  );
  return {
    record({ id, name }) {
      if (names.get(id) === name) return;
      names.set(id, name);
      if (db) upsertTemporaryName(db, { containerId: id, name });
    },
    originalOf({ id, name }) {
      const original = names.get(id);
      return original !== undefined && readMark(name)?.name === original ? original : name;
    },
    ids: () => [...names.keys()],
    forget(id) {
      if (names.delete(id) && db) deleteTemporaryName(db, id);
    },
  };
}
