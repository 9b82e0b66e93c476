/** The headline of a status page: how many of its components are affected, and how. @module */

import {
  COMPONENT_STATUSES,
  type ComponentStatus,
} from "../../../services/pro/status_pages/components.ts";
import type { PublicPage } from "../../../services/pro/status_pages/public.ts";

type Page = Pick<PublicPage, "components" | "active_incidents" | "overall_status">;

/** Verbs for one component and for several. */
const VERBS: Readonly<Record<ComponentStatus, readonly [one: string, several: string]>> = {
  operational: ["is operational", "are operational"],
  under_maintenance: ["is under maintenance", "are under maintenance"],
  degraded_performance: ["has degraded performance", "have degraded performance"],
  partial_outage: ["has a partial outage", "have a partial outage"],
  major_outage: ["is down", "are down"],
};

/** Longer names are truncated, in UTF-16 units. */
const NAME_MAX = 100;

/**
 * E.g. `1 of 5 components is down`, or `2 of 5 components are down, 1 has degraded performance`;
 * the worst first.
 */
export function headlineOf({ components, active_incidents, overall_status }: Page): string {
  if (overall_status === "operational") {
    const open = active_incidents.filter(({ severity }) => severity !== "maintenance").length;
    if (open === 0) return "All systems are operational";
    return `Systems are operational, with ${open === 1 ? "an open incident" : "open incidents"}`;
  }
  const total = components.length;
  const [worst, ...others] = COMPONENT_STATUSES.slice(1).toReversed()
    .map((status) => ({ status, count: countOf(components, status) }))
    .filter(({ count }) => count > 0);
  const { status, count } = worst!;
  if (total === 1) return `${components[0]!.name.slice(0, NAME_MAX)} ${VERBS[status][0]}`;
  if (count === total) return `All ${total} components ${VERBS[status][1]}`;
  return [
    `${count} of ${total} components ${verb(status, count)}`,
    ...others.map((other) => `${other.count} ${verb(other.status, other.count)}`),
  ].join(", ");
}

/** The status for colors and badge: a partial outage unless every component is down. */
export function shownStatus({ components, overall_status }: Page): ComponentStatus {
  const isPartial = overall_status === "major_outage" &&
    countOf(components, "major_outage") < components.length;
  return isPartial ? "partial_outage" : overall_status;
}

const verb = (status: ComponentStatus, count: number) => VERBS[status][count === 1 ? 0 : 1];

const countOf = (components: Page["components"], status: ComponentStatus) =>
  components.filter((component) => component.status === status).length;
