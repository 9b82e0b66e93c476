/**
 * Reports of the service: host, containers, alerts, monitors and events. One tab reads the stream
 * and passes the frames to the others; hidden tabs read nothing.
 *
 * @module
 */

import type { ComponentType } from "preact";
import { computed, effect, signal } from "@preact/signals";
import type {
  AlertEvent,
  Container,
  EngineStatus,
  EventKind,
  HostSummary,
  Job,
  Maintenance,
  Monitor,
  MonitorCheck,
  Stack,
} from "../api/types.ts";
import type { Problem } from "../base/lasting.ts";
import { followStream, type StreamFrame } from "./stream.ts";
import { HOST } from "./root.ts";
import { hasEnded, session } from "./session.ts";

/** An event of the service, as in webhooks, with what it says. */
export interface LiveEvent {
  event: string;
  timestamp: string;
  eventId: string;
  data: Record<string, unknown>;
  /** Name of the host of the fleet that it is of. */
  host?: string;
  /** One line, e.g. `Container down: web`. */
  title: string;
  tone: EventKind["tone"];
  /** Facts, and texts of several lines. */
  lines: string[];
  /** If people should do something about it. */
  remedy?: { text: string; to: string };
  /** Missing for news that stand alone. Events with the same key are about the same problem. */
  problem?: Problem;
}

/** A job as the stream reports it. */
export type LiveJob = Omit<Job, "result">;

export interface HostState extends HostSummary {
  containers: Record<"running" | "stopped" | "total" | "unhealthy" | "paused", number | null>;
  engine: EngineStatus;
  maintenance: Maintenance;
  /** Number of changes of each resource, e.g. `/api/webhooks`. */
  changes: Readonly<Record<string, number>>;
  timestamp: string;
}

export type StackSummary = Omit<Stack, "containers">;

/** State of a container that decides about its problems and actions. */
export type ContainerState = Pick<
  Container,
  "id" | "name" | "state" | "health" | "crashLooping" | "self"
>;

/** Numbers of containers and stacks, and those that need attention. */
export interface OverviewState {
  containers: Record<
    "running" | "stopped" | "unhealthy" | "restarting" | "paused" | "total",
    number
  >;
  /** Those with a problem or a firing alert. */
  attention: readonly ContainerState[];
  /** Some of them, degraded ones first; missing for users who may not see stacks. */
  stacks?: { total: number; first: readonly StackSummary[] };
}

/** The result of a check of an uptime monitor, and the state of the monitor after it. */
export interface MonitorResult extends MonitorCheck {
  monitor_status: Monitor["status"];
  uptime_24h: number | null;
}

export const connection = signal<"live" | "reconnecting">("reconnecting");
export const host = signal<HostState | undefined>(undefined);
export const overview = signal<OverviewState | undefined>(undefined);
/**
 * Newest first; `undefined` until they are known. The list is large, so that the stream has it from
 * when a page shows it for the first time.
 */
export const containers = signal<readonly Container[] | undefined>(undefined, {
  watched: () => isListWanted.value = true,
});
export const alerts = signal<{ firing: AlertEvent[]; recent: AlertEvent[] } | undefined>(undefined);
/** Those of the 30 seconds before the last one, oldest first. */
export const monitorResults = signal<readonly MonitorResult[]>([]);
/** Newest first. */
export const events = signal<readonly LiveEvent[]>([]);
/** Whether a page shows {@linkcode hostEvents}. */
export const areHostEventsShown = signal(false);
/** Those of the hosts of the fleet, newest first; `shell/host_events.ts` reads them, with a fleet only. */
export const hostEvents = signal<readonly LiveEvent[]>([], {
  watched: () => areHostEventsShown.value = true,
  unwatched: () => areHostEventsShown.value = false,
});
/** By id, in the order in which they became known. */
export const jobs = signal<ReadonlyMap<string, LiveJob>>(new Map());

/** `null` unless it runs: the engine keeps the last health of a container that has stopped. */
export const healthOf = ({ state, health }: Pick<Container, "state" | "health">) =>
  state === "running" ? health : null;

/** Label of the containers of a Swarm stack, with its name. */
const SWARM_STACK = "com.docker.stack.namespace";

/** Name of the stack, a Compose project or one of a Swarm; `null` without one. */
export const stackOf = (
  { composeProject, labels }: Pick<Container, "composeProject" | "labels">,
): string | null => composeProject ?? labels[SWARM_STACK] ?? null;

/** A container in a crash loop runs in between, too. */
export const isRestarting = ({ state, crashLooping }: Pick<Container, "state" | "crashLooping">) =>
  state === "restarting" || crashLooping;

/** Whether it counts as stopped on the overview. */
export const isStopped = (container: Pick<Container, "state" | "crashLooping">): boolean =>
  container.state !== "running" && container.state !== "paused" && !isRestarting(container);

/** Whether the container engine answers; `undefined` until it is known. */
export const engineReachable = computed(() => host.value?.engine.reachable);

/**
 * Text in place of a list while the host whose pages are open cannot be reached; `shell/fleet.tsx`, which is
 * not part of the first view, sets it.
 */
export const hostAway = signal<{ Text: ComponentType<{ list: string }> } | undefined>(undefined);

/** Whether a tab has shown the list of containers. */
const isListWanted = signal(false);

/** Types of frames besides the list of containers. */
const TYPES = ["metrics", "overview", "alerts", "monitors", "event", "job"];

/** Whether the tab is visible. Hidden tabs read nothing. */
export const isVisible = signal(!document.hidden);

/** Counts connections, so that pages read again what they may have missed. */
export const reconnects = signal(0);

/** A tab that was hidden for longer may have missed results of monitors, in milliseconds. */
const AWAY_MAX_MS = 15_000;

/** Limits of events and jobs that are kept. */
const EVENTS_MAX = 500;
const JOBS_MAX = 200;

type Message =
  | { kind: "frame"; frame: StreamFrame }
  | { kind: "connection"; state: "live" | "reconnecting" }
  | { kind: "request"; hasList: boolean };

/** Tabs with the pages of one host share its stream. */
const STREAM = `longshore-stream${HOST === undefined ? "" : ` ${HOST}`}`;

const channel = new BroadcastChannel(STREAM);
/** The last frame of each state, for new tabs. */
const states = new Map<string, StreamFrame>();
let isReader = false;

/** An id from before every event: the service sends the events that it still has. */
const FIRST_EVENT = "1";

/** Position at which a tab continues that was hidden for a while. */
let lastEventId = FIRST_EVENT;

/** Follows the stream while there is a session and the tab is visible. */
export function startLive(): void {
  channel.onmessage = ({ data }: MessageEvent<Message>) => receive(data);
  document.addEventListener("visibilitychange", () => isVisible.value = !document.hidden);
  const isWanted = computed(() => Boolean(session.value) && !hasEnded.value && isVisible.value);
  let leftAt: number | undefined;
  effect(() => {
    if (!isWanted.value) {
      leftAt = reconnects.peek() > 0 && session.peek() ? performance.now() : undefined;
      if (session.peek() === null) forget();
      // The pages then read again what failed or was missed.
      else if (hasEnded.peek()) connection.value = "reconnecting";
      return;
    }
    if (leftAt !== undefined && performance.now() - leftAt > AWAY_MAX_MS) {
      reconnects.value = reconnects.peek() + 1;
    }
    leftAt = undefined;
    const end = new AbortController();
    void read(end.signal, isListWanted.value);
    return () => end.abort();
  });
}

/** Reads the stream while no other visible tab does. */
async function read(signal: AbortSignal, hasList: boolean): Promise<void> {
  channel.postMessage({ kind: "request", hasList } satisfies Message);
  const types = hasList ? [...TYPES, "containers"] : TYPES;
  try {
    await withLock(signal, async () => {
      isReader = true;
      await followStream({
        signal,
        path: `api/stream?types=${types.join()}`,
        lastEventId,
        onFrame: (frame) => {
          take(frame);
          channel.postMessage({ kind: "frame", frame } satisfies Message);
        },
        onState: (state) => {
          setConnection(state);
          channel.postMessage({ kind: "connection", state } satisfies Message);
        },
      });
    });
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    isReader = false;
  }
}

/** Browsers offer locks over TLS and on localhost only; elsewhere each tab reads for itself. */
async function withLock(signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  const { locks } = navigator as { locks?: LockManager };
  if (!locks) return await work();
  await locks.request(STREAM, { signal }, work);
}

function receive(message: Message): void {
  if (!session.peek()) return;
  if (message.kind !== "request") {
    if (isReader) return;
    if (message.kind === "frame") take(message.frame);
    else setConnection(message.state);
    return;
  }
  if (message.hasList) isListWanted.value = true;
  if (isReader) {
    for (const frame of states.values()) channel.postMessage({ kind: "frame", frame });
    for (const event of events.peek().toReversed()) {
      const json = JSON.stringify(event);
      channel.postMessage({ kind: "frame", frame: { type: "event", id: undefined, json } });
    }
    channel.postMessage({ kind: "connection", state: connection.peek() });
  }
}

function setConnection(state: "live" | "reconnecting"): void {
  if (state === "live" && connection.peek() !== "live") {
    reconnects.value++;
    // `deno task dev` restarts the service when the dashboard was built again.
    if (reconnects.value > 1 && "dev" in document.documentElement.dataset) location.reload();
  }
  connection.value = state;
}

function take(frame: StreamFrame): void {
  lastEventId = frame.id ?? lastEventId;
  if (frame.type !== "event" && frame.type !== "job") states.set(frame.type, frame);
  const data: unknown = JSON.parse(frame.json);
  switch (frame.type) {
    case "metrics":
      host.value = data as HostState;
      break;
    case "overview":
      overview.value = data as OverviewState;
      break;
    case "containers":
      containers.value = (data as { containers: Container[] }).containers;
      break;
    case "alerts":
      alerts.value = data as typeof alerts.value;
      break;
    case "monitors":
      monitorResults.value = (data as { results: MonitorResult[] }).results;
      break;
    case "event":
      addEvent(data as LiveEvent);
      break;
    case "job":
      addJob(data as LiveJob);
  }
}

function addEvent(event: LiveEvent): void {
  if (events.peek().some(({ eventId }) => eventId === event.eventId)) return;
  events.value = [event, ...events.peek()].slice(0, EVENTS_MAX);
}

/** Keeps the state of a job, unless a later one is known. */
export function addJob(job: LiveJob): void {
  const known = jobs.peek();
  if (known.get(job.id)?.endedAt) return;
  jobs.value = new Map([...known, [job.id, job] as const].slice(-JOBS_MAX));
}

/** After a sign-out nothing of the former user remains. */
function forget(): void {
  states.clear();
  host.value =
    overview.value =
    containers.value =
    alerts.value =
      undefined;
  events.value = hostEvents.value = [];
  monitorResults.value = [];
  jobs.value = new Map();
  lastEventId = FIRST_EVENT;
  connection.value = "reconnecting";
}
