/** Subjects of events, for the decision which events become one message. @module */

import type { Deps } from "../deps.ts";
import type { AppEvent } from "../events/events.ts";
import type { Subject, SubjectKind } from "../events/decisions.ts";
import { containersOf, phaseOf } from "../events/message.ts";

/** Of the metrics that say whether a container works; the others are problems of their own. */
const STATE_METRICS: readonly string[] = [
  "container_stopped",
  "container_not_running",
  "container_oom",
  "container_restarts",
  "container_unhealthy",
  "engine_down",
];

/** Subject of an event; `undefined` for news that stand alone. */
export function subjectOf(
  { inventory }: Pick<Deps, "inventory">,
  event: AppEvent,
): Subject | undefined {
  const containers = containersOf(event);
  const subject = (key: string, kind: SubjectKind, names = containers): Subject => ({
    key,
    kind,
    phase: phaseOf(event),
    containers: names,
    isOfEngine: names.length > 0,
  });
  switch (event.event) {
    case "engine.down":
    case "engine.up":
      return subject("engine", "engine");
    case "container.crash_looping":
    case "container.stable":
      return subject(`container ${containers[0]}`, "loop");
    case "container.down":
    case "container.removed":
    case "container.up":
      return subject(`container ${containers[0]}`, "down");
    case "container.healthy":
    case "container.oom":
    case "container.unhealthy":
      return subject(`container ${containers[0]}`, "ill");
    case "alert.fired":
    case "alert.resolved": {
      const { metric, ruleId } = event.data;
      const { container = "" } = event.data as { container?: string };
      const isState = STATE_METRICS.includes(metric);
      const alert = subject(`alert ${ruleId} ${container}`, isState ? "alert" : "measure");
      return metric === "engine_down" ? { ...alert, isOfEngine: true } : alert;
    }
    case "deploy.failed":
    case "deploy.needs_attention":
    case "deploy.rolled_back":
    case "deploy.succeeded":
      return subject(`deploy ${event.data.stack}`, "deploy");
    case "monitor.down":
    case "monitor.up":
      return subject(`monitor ${event.data.monitorId}`, "monitor");
    case "incident.created":
    case "incident.updated":
    case "incident.resolved":
      return subject(`incident ${event.data.id}`, "incident");
    case "remediation.executed": {
      const { ruleId, target } = event.data;
      const known = inventory.listFollowed().find(({ id, name }) =>
        name === target || id.startsWith(target)
      );
      const name = known?.name ?? target;
      return subject(`remediation ${ruleId} ${name}`, "remediation", [name]);
    }
    case "status_page.updated": {
      const { component, incident, maintenance, pageId } = event.data;
      const part = component ?? incident ?? maintenance ?? "";
      return subject(`status_page ${pageId} ${part}`, "incident");
    }
    default:
      return undefined;
  }
}
