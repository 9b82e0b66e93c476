/** Concerns that need attention, each with its solution. @module */

import type { ComponentChildren } from "preact";
import { api } from "../../api/client.ts";
import type { AlertEvent, AlertMetric, BlockedUpdate, ImageUpdate } from "../../api/types.ts";
import { Button, Link, LinkButton } from "../../components/button.tsx";
import { Icon, type IconName } from "../../components/icon.tsx";
import { Section } from "../../components/page.tsx";
import { useRead, useReloadOn } from "../../components/reading.ts";
import { Loading } from "../../components/states.tsx";
import { imageName, percent, plain } from "../../base/text.ts";
import { now, Time } from "../../components/time.tsx";
import { actionsFor, runAction } from "../../state/container_actions.ts";
import { edition } from "../../state/edition.ts";
import {
  alerts,
  type ContainerState,
  engineReachable,
  events,
  healthOf,
  host,
  isRestarting,
  type LiveEvent,
  overview,
} from "../../state/live.ts";
import { hasRole } from "../../state/session.ts";
import { withResult } from "../../state/toasts.ts";
import { detailsOf } from "../../parts/event_list.tsx";
import { useImageUpdates } from "../../parts/image_updates.ts";

interface Concern {
  key: string;
  tone: "bad" | "warn";
  icon: IconName;
  text: ComponentChildren;
  solution: ComponentChildren;
}

/** Concerns of one kind that are shown; the others are counted. */
const SHOWN_MAX = 5;

/** From here on a resource counts as nearly used up, in percent. */
const NEARLY_FULL = 90;

/** Time for which an event without an end counts, in milliseconds. */
const RECENT_MS = 24 * 60 * 60 * 1000;

export function Attention() {
  const updates = useImageUpdates();
  const blocked = useRead("GET /api/updates/blocked", {});
  useReloadOn("update.", blocked.reload);
  if (!overview.value && !host.value) return <Loading name="Needs attention" />;
  const concerns = [
    ...maintenanceMode(),
    ...lostEngine(),
    ...firingAlerts(),
    ...illContainers(),
    ...scarceResources(),
    ...recentFailures(),
    ...availableUpdates(updates),
    ...blockedUpdates(blocked.data.value?.blocked),
    ...licenseWarning(),
  ];
  return (
    <Section title="Needs attention" wide>
      {concerns.length === 0
        ? (
          <p class="all-well">
            <Icon name="check" />
            Nothing needs attention
          </p>
        )
        : (
          <ul class="concerns">
            {concerns.map(({ key, tone, icon, text, solution }) => (
              <li key={key} class={tone}>
                <Icon name={icon} />
                <p>{text}</p>
                {solution}
              </li>
            ))}
          </ul>
        )}
    </Section>
  );
}

function maintenanceMode(): Concern[] {
  const { enabled, since, until, reason } = host.value?.maintenance ?? {};
  if (!enabled) return [];
  const end = () =>
    withResult(
      "Disabled maintenance mode",
      () => api("POST /api/maintenance", { body: { enabled: false } }),
    );
  return [{
    key: "maintenance",
    tone: "warn",
    icon: "wrench",
    text: (
      <>
        <strong>Maintenance mode</strong>
        {reason && ` (${plain(reason)})`}: no messages are sent{" "}
        <span class="muted">
          started <Time at={since} />
          {until && (
            <>
              , ends <Time at={until} />
            </>
          )}
        </span>
      </>
    ),
    solution: hasRole("admin", "settings:write") && (
      <Button onClick={() => void end()}>End maintenance</Button>
    ),
  }];
}

const lostEngine = (): Concern[] =>
  engineReachable.value === false
    ? [{
      key: "engine",
      tone: "bad",
      icon: "box",
      text: "The container engine does not answer",
      solution: <LinkButton to="/about">Show status</LinkButton>,
    }]
    : [];

function firingAlerts(): Concern[] {
  const firing = alerts.value?.firing ?? [];
  const isCritical = ({ severity }: AlertEvent) => severity === "critical";
  return shorten(
    [...firing.filter(isCritical), ...firing.filter((each) => !isCritical(each))],
    ({ id, ruleName, message, firedAt, metric, container, severity }) => ({
      key: `alert ${id}`,
      tone: severity === "critical" ? "bad" : "warn",
      icon: "alert",
      text: (
        <>
          <Link to="/alerts">{plain(`${ruleName}: ${message}`)}</Link>{" "}
          <span class="muted">
            <Time at={firedAt} />
          </span>
        </>
      ),
      solution: container === null
        ? <LinkButton to={METRIC_PAGES[metric] ?? "/alerts"}>Investigate</LinkButton>
        : solutionFor(container),
    }),
    { are: "alerts are firing", to: "/alerts" },
  );
}

/** The first ones, and how many others there are. */
function shorten<Item>(
  items: readonly Item[],
  concernOf: (item: Item) => Concern,
  { are, to }: { are: string; to: string },
): Concern[] {
  // A line about one more would take as much room as that one.
  if (items.length <= SHOWN_MAX + 1) return items.map(concernOf);
  const { tone, icon } = concernOf(items[SHOWN_MAX]!);
  return [...items.slice(0, SHOWN_MAX).map(concernOf), {
    key: to,
    tone,
    icon,
    text: `${(items.length - SHOWN_MAX).toLocaleString("en")} more ${are}`,
    solution: <LinkButton to={to}>Show all</LinkButton>,
  }];
}

/** Solution for a container that an alert names. */
function solutionFor(name: string): ComponentChildren {
  const container = overview.value?.attention.find((each) => each.name === name);
  if (container && problemOf(container) !== undefined) return remedyOf(container);
  return container && actionsFor(container).includes("start")
    ? <Button icon="play" onClick={() => void runAction(container, "start")}>Start</Button>
    : <LinkButton to={`/containers/${encodeURIComponent(name)}`}>Show {plain(name)}</LinkButton>;
}

/** Page that shows the cause of an alert. */
const METRIC_PAGES: Partial<Record<AlertMetric, string>> = {
  cpu_percent: "/containers?sort=-cpu",
  memory_percent: "/containers?sort=-memory",
  load_1: "/containers?sort=-cpu",
  container_stopped: "/containers?state=stopped",
};

/** Alerts that say the same as the state of their container. */
const STATE_METRICS: readonly AlertMetric[] = ["container_unhealthy", "container_restarts"];

function illContainers(): Concern[] {
  const reported = (alerts.value?.firing ?? [])
    .filter(({ metric }) => STATE_METRICS.includes(metric)).map(({ container }) => container);
  const ill = (overview.value?.attention ?? []).filter((container) =>
    problemOf(container) && !reported.includes(container.name)
  );
  return Object.values(PROBLEMS).flatMap((problem) =>
    shorten(
      ill.filter((container) => problemOf(container) === problem),
      (container) => ({
        key: `container ${container.id}`,
        tone: "bad",
        icon: "box",
        text: (
          <>
            <Link to={pathOf(container)}>{plain(container.name)}</Link> {problem.is}
          </>
        ),
        solution: remedyOf(container),
      }),
      problem,
    )
  );
}

const pathOf = ({ id }: ContainerState): string => `/containers/${id.slice(0, 12)}`;

interface Problem {
  /** Verb for one container, and for several. */
  is: string;
  are: string;
  to: string;
}

/** By state and by health. */
const PROBLEMS: Record<string, Problem> = {
  restarting: {
    is: "exits and is restarted again and again",
    are: "exit and are restarted again and again",
    to: "/containers?state=restarting",
  },
  dead: {
    is: "is dead: the engine could not remove it",
    are: "are dead: the engine could not remove them",
    to: "/containers?state=dead",
  },
  unhealthy: { is: "is unhealthy", are: "are unhealthy", to: "/containers?health=unhealthy" },
};

const problemOf = (container: ContainerState): Problem | undefined =>
  PROBLEMS[isRestarting(container) ? "restarting" : container.state] ??
    PROBLEMS[healthOf(container) ?? ""];

function remedyOf(container: ContainerState): ComponentChildren {
  // Another restart does not help a container that restarts; its log says why it exits.
  if (isRestarting(container)) {
    return <LinkButton to={`${pathOf(container)}/logs`}>Show log</LinkButton>;
  }
  return actionsFor(container).includes("restart")
    ? (
      <Button icon="restart" onClick={() => void runAction(container, "restart")}>
        Restart
      </Button>
    )
    : <LinkButton to={pathOf(container)}>Show</LinkButton>;
}

function scarceResources(): Concern[] {
  if (!host.value) return [];
  const { disk, memory } = host.value;
  return [
    { name: "Disk", ...disk, to: "/host", what: "Show disk use" },
    { name: "Memory", ...memory, to: "/containers?sort=-memory", what: "Show by memory" },
  ].filter((each) => each.percent >= NEARLY_FULL).map((each) => ({
    key: each.name,
    tone: each.percent >= 95 ? "bad" : "warn",
    icon: "disk",
    text: (
      <>
        <strong>{each.name}</strong> is {percent(each.percent)} full
      </>
    ),
    solution: <LinkButton to={each.to}>{each.what}</LinkButton>,
  }));
}

/** Button that leads to where people do something about an event. */
const solutionOf = ({ text, to }: NonNullable<LiveEvent["remedy"]>) =>
  to.startsWith("/")
    ? <LinkButton to={to}>{text}</LinkButton>
    : <a class="button plain" href={to} rel="noreferrer">{text}</a>;

function recentFailures(): Concern[] {
  const since = new Date(now.value - RECENT_MS).toISOString();
  const known = new Set<string>();
  return events.value.flatMap((each): Concern[] => {
    const { timestamp, eventId, remedy, title, tone } = each;
    if (timestamp < since || !remedy) return [];
    // Repeated failures are one concern: the last time counts.
    if (known.has(title)) return [];
    known.add(title);
    return [{
      key: eventId,
      tone: tone === "problem" ? "bad" : "warn",
      icon: "clock",
      text: (
        <>
          <strong>{plain(title)}</strong> {detailsOf(each)}{" "}
          <span class="muted">
            <Time at={timestamp} />
          </span>
        </>
      ),
      solution: solutionOf(remedy),
    }];
  });
}

/** Names in a line about updates. */
const NAMES_MAX = 3;

function Names({ names }: { names: readonly string[] }) {
  const hidden = names.length - NAMES_MAX;
  return (
    <>
      <strong>{names.slice(0, NAMES_MAX).join(", ")}</strong>
      {hidden > 0 && ` and ${hidden} more`}
    </>
  );
}

function availableUpdates(updates: readonly ImageUpdate[] = []): Concern[] {
  const images = updates.filter(({ containers }) => containers.some(({ blocked }) => !blocked))
    .map(({ image }) => plain(imageName(image)));
  if (images.length === 0) return [];
  return [{
    key: "updates",
    tone: "warn",
    icon: "down",
    text: (
      <>
        Updates for <Names names={images} />
      </>
    ),
    solution: <LinkButton to="/updates">Show updates</LinkButton>,
  }];
}

/** Images that containers have left, and that are not installed again. */
function blockedUpdates(blocked: readonly BlockedUpdate[] = []): Concern[] {
  const names = [...new Set(blocked.map(({ containerName }) => plain(containerName)))];
  if (names.length === 0) return [];
  return [{
    key: "blocked",
    tone: "warn",
    icon: "down",
    text: (
      <>
        Rolled back, and the image is blocked: <Names names={names} />
      </>
    ),
    solution: <LinkButton to="/updates">Show updates</LinkButton>,
  }];
}

function licenseWarning(): Concern[] {
  const warning = edition.value?.warning ?? edition.value?.problem;
  if (warning == null) return [];
  return [{
    key: "license",
    tone: "warn",
    icon: "key",
    text: warning,
    solution: <LinkButton to="/license">License</LinkButton>,
  }];
}
