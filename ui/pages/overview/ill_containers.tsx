/** Concerns about containers and the alerts that name them. @module */

import type { ComponentChildren } from "preact";
import type { AlertEvent, AlertMetric } from "../../api/types.ts";
import { Button, Link, LinkButton } from "../../components/button.tsx";
import { plain } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { actionsFor, runAction } from "../../state/container_actions.ts";
import { alerts, type ContainerState, healthOf, isRestarting, overview } from "../../state/live.ts";
import { type Concern, shorten } from "./concern.tsx";

export function firingAlerts(): Concern[] {
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

export function illContainers(): Concern[] {
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
