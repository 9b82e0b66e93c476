/**
 * The events of the service. Webhooks, chat channels, pushes, the SSE stream, status-page
 * subscribers and the compliance log receive them.
 *
 * @module
 */

import type { ServerIdentity } from "./server_identity.ts";

/** Why a container left the state `running`. */
export type DownReason = "exited" | "killed" | "oom" | "stopped";

/** End of a crash loop; `exited`: the container did not start again. */
export type LoopOutcome = "running" | "exited" | "stopped" | "removed";

/** Common data of every event about a container. */
interface ContainerData {
  container: string;
  id: string;
  /** The reference of its image; missing where the container is not known any more. */
  image?: string;
}

/** Data of an alert's events. */
export interface AlertData {
  rule: string;
  ruleId: string;
  /** The alert event's id, the same when it fires and when it resolves. */
  alertId: string;
  metric: string;
  operator: string;
  threshold: number;
  value: number;
  message: string;
  severity?: "info" | "warning" | "critical";
  /** The name of the container that the value belongs to; missing for the host. */
  container?: string;
  /** The image of that container. */
  image?: string;
  /** The stack of that container. */
  stack?: string;
  /** Names of the containers that the value counts; with `container_stopped` only. */
  containers?: string[];
}

/** Data of the event about missing data of an alert rule. */
export type MissingDataData =
  & Pick<AlertData, "rule" | "ruleId" | "metric" | "container" | "image" | "stack" | "message">
  & { severity: "info" | "warning" | "critical" };

/** Data of an incident's events. */
export interface IncidentData {
  id: string;
  title: string;
  severity: string;
  status: string;
  source: string;
}

/** Data of the events of an update. */
export interface UpdateData {
  container: string;
  /** Of the container before the update. */
  id: string;
  /** The reference of the new image. */
  image: string;
  /** Of its manifest, or the image's id; `null` before the image is known. */
  digest: string | null;
  /** Why it succeeded or failed; `null` at the start. */
  reason: string | null;
  jobId: string;
}

/** Data of the events of a deploy. */
export interface DeployData {
  stack: string;
  /** Of the stored sources. */
  version: number;
  /** Why it failed; `null` if it succeeded. */
  reason: string | null;
  jobId: string;
}

/** Every event kind with the shape of its data. */
export interface EventMap {
  /** An account was used from an address and browser from which it had never signed in. */
  "account.new_sign_in": {
    /** The email; `key` for the API key. */
    account: string;
    userId: string;
    sessionId: string;
    address: string;
    userAgent: string | null;
  };
  "alert.fired": AlertData;
  "alert.resolved": AlertData;
  /** The value of a rule has been unknown for as long as the rule allows; once each time. */
  "alert.no_data": MissingDataData;
  /** A container left `running` other than by an action of this service. */
  "container.down": ContainerData & { reason: DownReason; exitCode: number | null };
  "container.up": ContainerData;
  "container.unhealthy": ContainerData & {
    /** Output of the last health check, at most 1 000 characters; `null` where unknown. */
    healthOutput: string | null;
  };
  /** A container is healthy again after `container.unhealthy`; not while it is in a crash loop. */
  "container.healthy": ContainerData;
  /** A container was removed while a problem of it was open that a message had reported. */
  "container.removed": ContainerData;
  "container.oom": ContainerData;
  /**
   * A container exited 3 times within 5 minutes. It causes no `container.down` and `container.up`
   * until `container.stable`.
   */
  "container.crash_looping": ContainerData & {
    /** Of the last exit. */
    reason: DownReason;
    exitCode: number | null;
  };
  /**
   * A crash loop ended: the container neither exited nor started for 10 minutes, or was stopped or
   * removed.
   */
  "container.stable": ContainerData & {
    outcome: LoopOutcome;
    /** Exits since the crash loop began. */
    exits: number;
    durationSeconds: number;
  };
  /** The container engine cannot be reached. */
  "engine.down": {
    error: string;
    /** Number of containers that ran before. */
    containers: number;
  };
  /** The container engine responds again. */
  "engine.up": {
    downtimeSeconds: number;
    /** Number of containers that run now. */
    containers: number;
    /** Names of the containers that ran before and do not run now. */
    stopped: string[];
  };
  "deploy.succeeded": DeployData;
  /** A new container failed, and the stack is as it was before. */
  "deploy.rolled_back": DeployData;
  /** Nothing was changed, or the caller asked not to roll back. */
  "deploy.failed": DeployData;
  /** Neither the deploy nor its rollback succeeded. */
  "deploy.needs_attention": DeployData;
  /** Not all of a stack's containers, networks, volumes and images could be removed. */
  "stack.down_failed": Omit<DeployData, "version">;
  /** The host's disk is full within a day if it fills as in the last six hours. */
  "host.disk_full_soon": {
    path: string;
    /** Used now. */
    percent: number;
    hoursLeft: number;
    /** ISO 8601, UTC. */
    fullAt: string;
  };
  "schedule.failed": {
    schedule: string;
    scheduleId: string;
    container: string;
    image?: string;
    action: string;
    error: string;
    /** The failed update, which has events of its own; missing if none was started. */
    jobId?: string;
  };
  "certificate.expiring": {
    domain: string;
    port: number;
    daysRemaining: number;
    /** ISO 8601, UTC. */
    expiresAt: string;
  };
  /** A registry has another image for a tag in use, or a newer version; once per image and digest. */
  "image.update_available": {
    /** Canonical reference. */
    image: string;
    /** The reference that the containers use; differs from `image` for a newer version. */
    currentImage: string;
    digest: string;
    /** ISO 8601, UTC. */
    firstSeenAt: string;
    /** Names. */
    containers: string[];
  };
  "incident.created": IncidentData;
  "incident.updated": IncidentData & { previousStatus: string; message: string | null };
  "incident.resolved": IncidentData;
  "monitor.down": {
    monitor: string;
    monitorId: string;
    outageId: string;
    cause: string;
    /** Names of the containers that it checks, as far as its address shows them. */
    containers?: string[];
  };
  "monitor.up": {
    monitor: string;
    monitorId: string;
    outageId: string;
    downtimeSeconds: number;
    containers?: string[];
  };
  "sla.breached": {
    sla: string;
    slaId: string;
    periodId: string;
    breachId: string;
    /** Percent of the known time; `null` where too little is known. */
    actualUptime: number | null;
    targetUptime: number;
    downtimeSeconds: number;
  };
  "remediation.executed": {
    rule: string;
    ruleId: string;
    action: string;
    target: string;
    status: string;
    error: string | null;
  };
  /** A rule turned itself off. */
  "remediation.disabled": { rule: string; ruleId: string; reason: string };
  /** The page shows another state of a component, an incident or a planned maintenance. */
  "status_page.updated": {
    page: string;
    pageId: string;
    component: string | null;
    incident: string | null;
    /** The title of a planned maintenance; only there for one, as are its times. */
    maintenance?: string;
    startsAt?: string;
    endsAt?: string;
    oldStatus: string | null;
    newStatus: string;
    message: string | null;
  };
  "update.started": UpdateData;
  "update.succeeded": UpdateData;
  /** The new container failed, and the old one runs again. */
  "update.rolled_back": UpdateData;
  /** No container was changed. */
  "update.failed": UpdateData;
  /** Neither the new container works nor could the old one be restored. */
  "update.needs_attention": UpdateData;
  /** Sent on demand, to see whether events arrive. */
  "test": { message: string };
}

export type EventKind = keyof EventMap;

/**
 * Every kind that can be subscribed to (contract, section 5), in every edition: a subscription
 * outlives a change of the license.
 */
export const EVENT_KINDS = [
  "alert.fired",
  "alert.resolved",
  "alert.no_data",
  "container.down",
  "container.up",
  "container.unhealthy",
  "container.healthy",
  "container.removed",
  "container.oom",
  "container.crash_looping",
  "container.stable",
  "engine.down",
  "engine.up",
  "host.disk_full_soon",
  "incident.created",
  "incident.updated",
  "incident.resolved",
  "monitor.down",
  "monitor.up",
  "sla.breached",
  "remediation.executed",
  "remediation.disabled",
  "schedule.failed",
  "deploy.succeeded",
  "deploy.rolled_back",
  "deploy.failed",
  "deploy.needs_attention",
  "stack.down_failed",
  "status_page.updated",
  "certificate.expiring",
  "image.update_available",
  "account.new_sign_in",
  "update.started",
  "update.succeeded",
  "update.rolled_back",
  "update.failed",
  "update.needs_attention",
  "test",
] as const;

/** An event without its envelope. */
export type NewEvent = {
  [Kind in EventKind]: { event: Kind; data: EventMap[Kind] };
}[EventKind];

/** Common fields of every event besides its kind and data. */
export interface EventEnvelope {
  /** ISO 8601, UTC. */
  timestamp: string;
  /** A UUID, the same in every delivery of this event. */
  eventId: string;
  /** The server's name (`SERVER_NAME`). */
  server: string;
  /** The server's UUID; it survives a change of the name. */
  serverId: string;
}

/** One event as subscribers and webhook receivers see it. */
export type AppEvent = {
  [Kind in EventKind]: { event: Kind } & EventEnvelope & { data: EventMap[Kind] };
}[EventKind];

/** Returns a new envelope: the current time, a new id and this server. */
export function createEnvelope(
  { now, server }: { now: () => Date; server: ServerIdentity },
): EventEnvelope {
  return {
    timestamp: now().toISOString(),
    eventId: crypto.randomUUID(),
    server: server.name,
    serverId: server.id,
  };
}

/** Maximum number of events buffered per subscriber; a slower one loses its oldest. */
const BUFFER_MAX = 256;

export interface EventBus {
  /**
   * Passes the event to every subscriber; never waits and never throws. An event that must not be
   * lost goes through `emit()`, which also fills the outbox.
   */
  publish(event: AppEvent): void;
  /** Returns the events from now on, until `signal` aborts. */
  subscribe(signal: AbortSignal): AsyncIterable<AppEvent>;
}

/** Creates the process's event bus. */
export function createEventBus(): EventBus {
  const subscribers = new Set<(event: AppEvent) => void>();

  return {
    publish(event) {
      for (const deliver of subscribers) deliver(event);
    },

    // Subscribes at the call, not at the first read, so that no event between the two is lost.
    subscribe(signal) {
      const queue: AppEvent[] = [];
      let wake = () => {};
      const deliver = (event: AppEvent) => {
        if (queue.push(event) > BUFFER_MAX) queue.shift();
        wake();
      };
      const leave = () => {
        subscribers.delete(deliver);
        wake();
      };
      subscribers.add(deliver);
      signal.addEventListener("abort", leave, { once: true });

      return (async function* () {
        try {
          while (!signal.aborted) {
            const event = queue.shift();
            if (event) yield event;
            else await new Promise<void>((resolve) => wake = resolve);
          }
        } finally {
          signal.removeEventListener("abort", leave);
          leave();
        }
      })();
    },
  };
}
