/** Events of a receiver. @module */

import type { NewWebhook } from "../api/types.ts";
import { CheckGroup } from "../components/form.tsx";

type Kind = NewWebhook["events"][number];

/** In the order of the service; the type reports a kind that is missing here. */
const KINDS = Object.keys(
  {
    "*": 0,
    "alert.fired": 0,
    "alert.resolved": 0,
    "alert.no_data": 0,
    "container.down": 0,
    "container.up": 0,
    "container.unhealthy": 0,
    "container.healthy": 0,
    "container.removed": 0,
    "container.oom": 0,
    "container.crash_looping": 0,
    "container.stable": 0,
    "engine.down": 0,
    "engine.up": 0,
    "host.disk_full_soon": 0,
    "incident.created": 0,
    "incident.updated": 0,
    "incident.resolved": 0,
    "monitor.down": 0,
    "monitor.up": 0,
    "sla.breached": 0,
    "remediation.executed": 0,
    "remediation.disabled": 0,
    "schedule.failed": 0,
    "deploy.succeeded": 0,
    "deploy.rolled_back": 0,
    "deploy.failed": 0,
    "deploy.needs_attention": 0,
    "stack.down_failed": 0,
    "status_page.updated": 0,
    "certificate.expiring": 0,
    "image.update_available": 0,
    "account.new_sign_in": 0,
    "update.started": 0,
    "update.succeeded": 0,
    "update.rolled_back": 0,
    "update.failed": 0,
    "update.needs_attention": 0,
    "test": 0,
  } satisfies Record<Kind, 0>,
);

export function EventKinds({ checked = [] }: { checked?: readonly string[] }) {
  return (
    <CheckGroup
      label="Events"
      name="events"
      options={KINDS}
      checked={checked}
      hint="* means all, including those of later versions"
      required
    />
  );
}

/** Events of a receiver in a table: the first kinds, and how many more. */
export function eventsText(events: readonly string[]): string {
  if (events.includes("*")) return "All events";
  const shown = events.slice(0, 2).join(", ");
  return events.length > 2 ? `${shown} and ${events.length - 2} more` : shown;
}
