/** Alert metrics that count what happens to containers within a time window. @module */

import type { AlertMemory, Occurrences } from "../memory.ts";
import { type ContainerDeps, metric } from "./kind.ts";

const WINDOW_SECONDS = 300;

const counting = (counts: Occurrences) => ({
  counts,
  read: ({ alerts, now }: ContainerDeps, { id }: { id: string }, key: string) =>
    alerts.counts.get(id)?.[counts].counts.get(key)?.total(now().getTime()),
});

function patternOf({ logs }: AlertMemory, id: string, key: string) {
  const watch = logs.get(id);
  return watch?.isOpen ? watch.patterns.find((each) => each.key === key) : undefined;
}

export const containerCounts = [
  metric("container_restarts", {
    target: "containers",
    description:
      "Restarts within windowSeconds; those before Longshore's start as the engine knows",
    group: "Containers",
    words: "restarts",
    title: "Restarts of a container",
    name: "The number of restarts",
    verb: "is",
    operator: ">=",
    threshold: 3,
    windowSeconds: WINDOW_SECONDS,
    stateOf: "container",
    ...counting("restarts"),
    recommended: [{
      id: "container-restarting",
      description: "A container was restarted three times in ten minutes.",
      name: "Container restarting",
      threshold: 3,
      durationSeconds: 0,
      windowSeconds: 600,
      severity: "critical",
    }],
  }),
  metric("container_oom", {
    target: "containers",
    description: "Out-of-memory kills within windowSeconds; those before as for restarts",
    group: "Containers",
    words: "out of memory",
    title: "Container out of memory",
    name: "The number of out-of-memory kills",
    verb: "is",
    operator: ">=",
    windowSeconds: WINDOW_SECONDS,
    stateOf: "container",
    ...counting("ooms"),
  }),
  metric("container_log_matches", {
    target: "containers",
    description:
      "New lines within windowSeconds that match pattern (RE2); of at most 50 containers, running ones first",
    group: "Containers",
    words: "matching log lines",
    name: "The number of matching log lines",
    verb: "is",
    operator: ">=",
    windowSeconds: WINDOW_SECONDS,
    hasPattern: true,
    read: ({ alerts, now }, { id }, key) =>
      patternOf(alerts, id, key)?.count.total(now().getTime()),
    note({ alerts, now }, { id }, key) {
      const dropped = patternOf(alerts, id, key)?.dropped.total(now().getTime());
      return dropped ? `${dropped} of them came too fast to be tested` : undefined;
    },
    missing: ({ alerts }, { id, name }) =>
      alerts.logs.get(id)?.error ?? `The log of ${name} is not followed yet`,
  }),
];
