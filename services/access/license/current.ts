/** The current edition: its features, limits and usage. @module */

import type { Deps } from "../../deps.ts";
import { type Edition, EDITIONS, includesEdition } from "../../edition.ts";
import type { Trial } from "./license.ts";
import { protectionWarning } from "./protection.ts";
import { LIMITED_RESOURCES, type LimitedResource, limitOf } from "./limits.ts";

/** Names of the features that each edition adds. */
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
  enterprise: ["sso", "branding", "roles", "ip-allowlist", "mtls", "encryption", "compliance"],
};

export interface EditionInfo {
  edition: Edition;
  expiresAt: string | null;
  graceUntil: string | null;
  customer: string | null;
  /** Why the installed license key is not accepted. */
  problem: string | null;
  /** End of the access protection that follows the end of the Enterprise edition. ISO 8601, UTC. */
  protectedUntil: string | null;
  /** Describes the protection in one sentence. */
  warning: string | null;
  /** `null` while the trial has not been started. */
  trial: Trial | null;
  features: string[];
  /** `null` means unlimited. */
  limits: Record<LimitedResource, number | null>;
  usage: Partial<Record<LimitedResource, number>>;
}

/** The current license with its limits, and the number of records that count against them. */
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
      .flatMap((each) => FEATURES[each].flatMap(spellingsOf)),
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
function spellingsOf(feature: string): string[] {
  return feature.includes("-") ? [feature, feature.replaceAll("-", "_")] : [feature];
}
