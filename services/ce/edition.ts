/**
 * The edition in force: what it opens, what it allows, and how much of that is used.
 *
 * @module
 */

import { countUsers } from "../../db/ce/users.ts";
import type { Deps } from "../deps.ts";
import type { Edition } from "../edition.ts";
import { LIMITED_RESOURCES, type LimitedResource, limitOf } from "../limits.ts";

/** What each edition adds, by the names that the product's parts have. */
const FEATURES: Record<Edition, readonly string[]> = {
  ce: [
    ...["containers", "stacks", "images", "networks", "volumes", "system", "stream", "users"],
  ],
  pro: [],
  enterprise: [],
};

export interface EditionInfo {
  edition: Edition;
  expiresAt: string | null;
  graceUntil: string | null;
  customer: string | null;
  /** Why a given license key is not in force. */
  problem: string | null;
  features: string[];
  /** `null` is unlimited. */
  limits: Record<LimitedResource, number | null>;
  usage: Partial<Record<LimitedResource, number>>;
}

/** The license in force with its limits, and the records that count against them. */
export function describeEdition({ db, license }: Pick<Deps, "db" | "license">): EditionInfo {
  const { edition, expiresAt, graceUntil, grant, problem } = license;
  const licensed = edition === "ce" ? undefined : grant;
  return {
    edition,
    expiresAt: licensed ? expiresAt : null,
    graceUntil,
    customer: licensed?.customer ?? null,
    problem,
    features: [
      ...FEATURES.ce,
      ...(edition === "ce" ? [] : FEATURES.pro),
      ...(edition === "enterprise" ? FEATURES.enterprise : []),
    ],
    limits: Object.fromEntries(LIMITED_RESOURCES.map((resource) => {
      const limit = limitOf(license, resource);
      return [resource, limit === Infinity ? null : limit];
    })) as EditionInfo["limits"],
    usage: { users: countUsers(db) },
  };
}
