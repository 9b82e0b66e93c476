/** The limits of each edition. @module */

import type { Database } from "../../../db/database.ts";
import { LimitError } from "../../errors.ts";
import { type Edition, editionName } from "../../edition.ts";

export const LIMITED_RESOURCES = [
  "webhooks",
  "schedules",
  "integrations",
  "alert_rules",
  "users",
  "remediation_rules",
  "status_pages",
  "uptime_monitors",
] as const;
export type LimitedResource = (typeof LIMITED_RESOURCES)[number];

export type RecordCounts = { readonly [Name in LimitedResource]?: (db: Database) => number };

const NONE = 0;
const UNLIMITED = Infinity;

const LIMITS: Record<LimitedResource, Record<Edition, number>> = {
  webhooks: { ce: 50, pro: UNLIMITED, enterprise: UNLIMITED },
  schedules: { ce: 50, pro: UNLIMITED, enterprise: UNLIMITED },
  integrations: { ce: 10, pro: UNLIMITED, enterprise: UNLIMITED },
  alert_rules: { ce: 50, pro: UNLIMITED, enterprise: UNLIMITED },
  users: { ce: 5, pro: 25, enterprise: UNLIMITED },
  remediation_rules: { ce: NONE, pro: 10, enterprise: UNLIMITED },
  status_pages: { ce: NONE, pro: 3, enterprise: UNLIMITED },
  uptime_monitors: { ce: NONE, pro: 25, enterprise: UNLIMITED },
};

/** The part of a license that determines limits. */
interface LimitSource {
  readonly edition: Edition;
  readonly grant: { limits: Partial<Record<LimitedResource, number>> } | undefined;
}

/** Returns the limit of a resource under the license in force; `Infinity` if unlimited. */
export function limitOf(license: LimitSource, resource: LimitedResource): number {
  const own = license.edition === "ce" ? undefined : license.grant?.limits[resource];
  return own ?? LIMITS[resource][license.edition];
}

/** @throws {LimitError} If one more record would exceed the limit. */
export function assertBelowLimit(
  license: LimitSource,
  resource: LimitedResource,
  current: number,
): void {
  const max = limitOf(license, resource);
  if (current < max) return;
  throw new LimitError(
    `Edition limit reached (${resource.replaceAll("_", " ")}): ` +
      `the ${editionName(license.edition)} allows ${max}; delete one or upgrade`,
    current,
    max,
  );
}
