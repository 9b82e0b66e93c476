/**
 * Custom roles that the groups of an identity provider give. Enterprise stores them; the sign-in of
 * all editions decides which ones.
 *
 * @module
 */

import { type Edition, includesEdition } from "../../edition.ts";

/** The custom roles of Enterprise. */
export interface GroupRoleStore {
  /** Whether a custom role has this name. */
  has(name: string): boolean;
  /**
   * Makes the custom roles of a user that groups can give exactly `names`. Others stay. Runs inside
   * the caller's transaction.
   *
   * @param managed The names of all roles that groups can give.
   */
  set(userId: string, names: readonly string[], managed: readonly string[]): void;
}

export type GroupRoles = ReturnType<typeof createGroupRoles>;

const NONE: GroupRoleStore = { has: () => false, set: () => {} };

export function createGroupRoles(license: { readonly edition: Edition }) {
  let store = NONE;
  return {
    /** The store in force; without a license, there are no custom roles. */
    get current(): GroupRoleStore {
      return includesEdition(license.edition, "enterprise") ? store : NONE;
    },
    storeWith: (given: GroupRoleStore): void => void (store = given),
  };
}
