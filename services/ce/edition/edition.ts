/**
 * The edition in force: what it opens, what it allows, and how much of that is used.
 *
 * @module
 */

import type { Deps } from "../../deps.ts";
import { type Edition, EDITIONS, includesEdition } from "../../license/edition.ts";
import type { Trial } from "../../license/license.ts";
import { protectionWarning } from "../../license/protection.ts";
import { LIMITED_RESOURCES, type LimitedResource, limitOf } from "../../license/limits.ts";

/** What each edition adds, by the names that the product's parts have. */
const FEATURES: Record<Edition, readonly string[]> = {
  ce: [
    ...["containers", "stacks", "images", "networks", "volumes", "system", "stream", "users"],
    ...["metrics", "probes", "alerts", "webhooks", "schedules", "integrations", "push"],
    ...["audit", "maintenance"],
  ],
  pro: [
    "incidents",
    "uptime",
    "remediation",
    "sla",
    "status-pages",
    "chatops",
    "monitoring-saas",
    "cloud-metrics",
    "incident-paging",
  ],
  enterprise: [
    "sso",
    "branding",
    "roles",
    "ip-allowlist",
    "mtls",
    "encryption",
    "compliance",
  ],
};

export interface EditionInfo {
  edition: Edition;
  expiresAt: string | null;
  graceUntil: string | null;
  customer: string | null;
  /** Why a given license key is not in force. */
  problem: string | null;
  /** End of the access protection after the Enterprise edition ended. ISO 8601, UTC. */
  protectedUntil: string | null;
  /** What the protection means, in one sentence. */
  warning: string | null;
  /** `null` while the trial is still to be had. */
  trial: Trial | null;
  features: string[];
  /** `null` is unlimited. */
  limits: Record<LimitedResource, number | null>;
  usage: Partial<Record<LimitedResource, number>>;
}

/** The license in force with its limits, and the records that count against them. */
export function describeEdition(
  { db, license, counts }: Pick<Deps, "db" | "license" | "counts">,
): EditionInfo {
  const { edition, expiresAt, graceUntil, grant, problem, trial } = license;
  const protectedUntil = license.protectedUntil();
  return {
    edition,
    expiresAt: edition === "ce" ? null : expiresAt,
    graceUntil,
    customer: grant?.customer ?? null,
    problem,
    protectedUntil: protectedUntil?.toISOString() ?? null,
    warning: protectionWarning(protectedUntil),
    trial,
    features: EDITIONS.filter((each) => includesEdition(edition, each))
      .flatMap((each) => FEATURES[each].flatMap(spellings)),
    limits: Object.fromEntries(LIMITED_RESOURCES.map((resource) => {
      const limit = limitOf(license, resource);
      return [resource, limit === Infinity ? null : limit];
    })) as EditionInfo["limits"],
    usage: Object.fromEntries(
      Object.entries(counts).map(([resource, count]) => [resource, count(db)]),
    ),
  };
}

/** Clients look for either spelling, e.g. `status-pages` and `status_pages`. */
function spellings(feature: string): string[] {
  return feature.includes("-") ? [feature, feature.replaceAll("-", "_")] : [feature];
}
