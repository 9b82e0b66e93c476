/**
 * The edition in force: what it opens, what it allows, and how much of that is used.
 *
 * @module
 */

import { countAlertRules } from "../../db/ce/alert_rules.ts";
import { countSchedules } from "../../db/ce/schedules.ts";
import { countIntegrations } from "../../db/ce/integrations.ts";
import { countUsers } from "../../db/ce/users.ts";
import { countWebhooks } from "../../db/ce/webhooks.ts";
import type { Deps } from "../deps.ts";
import type { Edition } from "../edition.ts";
import type { Trial } from "../license.ts";
import { LIMITED_RESOURCES, type LimitedResource, limitOf } from "../limits.ts";

/** What each edition adds, by the names that the product's parts have. */
const FEATURES: Record<Edition, readonly string[]> = {
  ce: [
    ...["containers", "stacks", "images", "networks", "volumes", "system", "stream", "users"],
    ...["metrics", "probes", "alerts", "webhooks", "schedules", "integrations", "push"],
    ...["audit", "maintenance"],
  ],
  pro: ["monitoring-saas", "cloud-metrics", "incident-paging"],
  enterprise: [],
};

export interface EditionInfo {
  edition: Edition;
  expiresAt: string | null;
  graceUntil: string | null;
  customer: string | null;
  /** Why a given license key is not in force. */
  problem: string | null;
  /** `null` while the trial is still to be had. */
  trial: Trial | null;
  features: string[];
  /** `null` is unlimited. */
  limits: Record<LimitedResource, number | null>;
  usage: Partial<Record<LimitedResource, number>>;
}

/** The license in force with its limits, and the records that count against them. */
export function describeEdition({ db, license }: Pick<Deps, "db" | "license">): EditionInfo {
  const { edition, expiresAt, graceUntil, grant, problem, trial } = license;
  return {
    edition,
    expiresAt: edition === "ce" ? null : expiresAt,
    graceUntil,
    customer: grant?.customer ?? null,
    problem,
    trial,
    features: [
      ...FEATURES.ce,
      ...(edition === "ce" ? [] : FEATURES.pro),
      ...(edition === "enterprise" ? FEATURES.enterprise : []),
    ],
    limits: Object.fromEntries(LIMITED_RESOURCES.map((resource) => {
      const limit = limitOf(license, resource);
      return [resource, limit === Infinity ? null : limit];
    })) as EditionInfo["limits"],
    usage: {
      users: countUsers(db),
      webhooks: countWebhooks(db),
      integrations: countIntegrations(db),
      alert_rules: countAlertRules(db),
      schedules: countSchedules(db),
    },
  };
}
