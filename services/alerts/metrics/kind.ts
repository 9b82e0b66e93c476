/** The interface of an alert metric: all that the service says, reads and decides about it. @module */

import type { AlertOperator, AlertRule } from "../../../db/alert_rules.ts";
import type { ContainerPoint } from "../../../db/container_samples.ts";
import type { MetricPoint } from "../../../db/metric_samples.ts";
import type { AlertData } from "../../events/kinds/alerts.ts";
import type { Container } from "../../containers/inventory.ts";
import type { ReadDeps } from "../../containers/reads.ts";
import type { Deps } from "../../deps.ts";
import type { Occurrences, Reading } from "../memory.ts";

export type SourceDeps =
  & ReadDeps
  & Pick<
    Deps,
    | "alerts"
    | "config"
    | "db"
    | "fleet"
    | "host"
    | "metrics"
    | "now"
    | "startedAt"
    | "swarm"
    | "updateGate"
  >;

export type FastDeps = Pick<Deps, "host" | "inventory" | "now" | "startedAt">;

export type ContainerDeps = Pick<Deps, "alerts" | "now" | "stats">;

/** `undefined` while unknown; `null` if the container cannot have one, e.g. because it is stopped. */
export type ContainerValue = number | null | undefined;

/** Units of values. `B` and `s` are converted to larger ones in texts. */
export const UNITS = ["%", "B", "B/s", "days", "h", "s", "°C"] as const;

/** Groups in which metrics are offered. */
export const METRIC_GROUPS = [
  "Host",
  "Containers",
  "Backups",
  "Swarm",
  "Fleet",
  "Service",
] as const;

/** A rule to begin with, on this metric. Its other settings have their defaults. */
interface Recommended
  extends
    Pick<AlertRule, "name" | "threshold" | "durationSeconds">,
    Partial<Pick<AlertRule, "operator" | "severity" | "windowSeconds">> {
  id: string;
  /** Its purpose, in one sentence. */
  description: string;
}

interface Definition {
  /** For the documentation and the form: the scale of the value. */
  description: string;
  group: (typeof METRIC_GROUPS)[number];
  /** Choices of metrics show `words` below the name of the group, e.g. `Containers: memory`. */
  words: string;
  /** In conditions such as `Memory of a container > 90 %`. Default: the words. */
  title?: string;
  /** In sentences such as `Memory of web is at 95 %`. Default: the words. */
  name?: string;
  /** Default: `is at`. */
  verb?: string;
  unit?: (typeof UNITS)[number];
  /** Of a metric that is 1 or 0: sentences about either. */
  states?: readonly [yes: string, no: string];

  /** Proposed for a new rule. Default: `>`; `==` 1 for a metric that is 1 or 0. */
  operator?: AlertOperator;
  threshold?: number;
  /** It counts occurrences in a time window; the length of the window by default, in seconds. */
  windowSeconds?: number;
  /** Its rules have a path, or need a pattern of log lines. */
  hasPath?: true;
  hasPattern?: true;
  recommended?: readonly Recommended[];

  /** Its alerts report the state of this, instead of a measured value. */
  stateOf?: AlertData["stateOf"] & string;
}

/** A metric of the host, the engine or the service. */
interface HostDefinition extends Definition {
  target: "host";
  /** Reads the value from memory, in each round. */
  read?(deps: FastDeps): Reading;
  /** Reads it from a file, a database or the engine, between the rounds. */
  slow?: {
    /** Interval of readings, in milliseconds. */
    everyMs: number;
    read(deps: SourceDeps, rule: Pick<AlertRule, "path">): Promise<Reading> | Reading;
  };
  /** The value of a stored sample. */
  sampled?(point: MetricPoint): number;
  /** Names of the containers that the value counts. */
  counted?(deps: Pick<Deps, "inventory">): string[];
}

type Sampled = (point: ContainerPoint) => number | undefined;

/** A metric of each container. */
interface ContainerDefinition extends Definition {
  target: "containers";
  /** @param key Distinguishes the values of rules with the same metric. */
  read(deps: ContainerDeps, container: Container, key: string): ContainerValue;
  /** Remark about the value, for the text of an alert. */
  note?(deps: ContainerDeps, container: Container, key: string): string | undefined;
  /** Why the value is unknown. Default: the container was not measured. */
  missing?(deps: Pick<Deps, "alerts" | "stats">, container: Container): string | undefined;
  /** Reads the value of a stored sample; `undefined` where it is unknown. */
  sampled?(memoryLimit: number | undefined): Sampled | undefined;
  /** Occurrences that the evaluator counts for it. */
  counts?: Occurrences;
}

export type StackDeps = Pick<Deps, "db" | "now">;

/** A metric of each stack. */
interface StackDefinition extends Definition {
  target: "stacks";
  /** Values by the names of stacks, also of removed ones; those without a value are missing. */
  read(deps: StackDeps): ReadonlyMap<string, number>;
}

type Defaults =
  & Required<Pick<Definition, "title" | "name" | "verb" | "operator" | "threshold">>
  & { id: string };

export type HostMetric = HostDefinition & Defaults;
export type ContainerMetric = ContainerDefinition & Defaults;

export type StackMetric = StackDefinition & Defaults;

/** An alert metric with its defaults. */
export type Metric = HostMetric | ContainerMetric | StackMetric;

/** Defines an alert metric. */
export function metric(
  id: string,
  definition: HostDefinition | ContainerDefinition | StackDefinition,
): Metric {
  const { states, words } = definition;
  const title = words.charAt(0).toUpperCase() + words.slice(1);
  return {
    id,
    title,
    name: title,
    verb: "is at",
    operator: states ? "==" : ">",
    threshold: 1,
    ...definition,
  };
}

/** A value that this installation can never have. */
export const unsupported = (reason: string): Reading => ({ reason, isUnsupported: true });

export const ROUND_MS = 5_000;
export const MINUTE_MS = 60_000;
