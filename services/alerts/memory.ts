/**
 * Memory of the alert evaluator (`alerts/evaluator.ts`) between rounds, so that a round without a
 * change reads and writes no row.
 *
 * @module
 */

import type { AlertProgress } from "../../db/alert_progress.ts";
import type { AlertRule } from "../../db/alert_rules.ts";

/** A value of the host, the engine or the service, or why it is unknown. */
export type Reading =
  | {
    value: number;
    about?: string;
    /** Names of the hosts counted by the value. */
    hosts?: readonly string[];
  }
  | {
    value?: undefined;
    reason: string;
    /** This installation can never have the value. */
    isUnsupported?: true;
  };

/** An enabled rule with its state. */
export interface WatchedRule {
  rule: AlertRule;
  /** By the name of the container; empty for the rule as a whole. Missing: never pending nor fired. */
  progress: Map<string, AlertProgress>;
  /** Since when the value is unknown, in Unix milliseconds, by the same names. */
  unknownSince: Map<string, number>;
  /** Names with a pending condition that are not evaluated now; their `seenAt` is stored. */
  unseen: Set<string>;
  /** The same for rules that read the same values. */
  valueKey: string;
  /** The same for rules that watch the same containers. */
  scopeKey: string;
}

/** Occurrences within a time window. */
export interface WindowCount {
  /** @param at Unix milliseconds. */
  add(at: number, count?: number): void;
  total(at: number): number;
}

/** Something that happened to a container, once or several times. Unix milliseconds. */
export interface Occurrence {
  /** Of the last time. */
  at: number;
  count: number;
  /** When the first time may have been. */
  since: number;
}

/** Kinds of occurrences. */
export type Occurrences = "restarts" | "ooms";

/** Occurrences of a container. */
export interface ContainerCounts {
  restartCount: number;
  startedAt: string | null;
  /** End of the last run that was reported as out of memory. */
  oomAt: string | null;
  restarts: Counted;
  ooms: Counted;
}

interface Counted {
  /** The last ones, so that a rule can count those before its first round. */
  recent: readonly Occurrence[];
  /** By the key of the values that count them. */
  counts: ReadonlyMap<string, WindowCount>;
}

/** Bytes through the network of the host at the last two samples. */
interface NetworkRate {
  bytes: number;
  readMs: number;
  /** Bytes per second; `undefined` after the first sample. */
  rate: number | undefined;
}

/** The pattern of a rule. */
interface LogPattern {
  key: string;
  test(line: string): boolean;
  windowSeconds: number;
  count: WindowCount;
  /** Lines among the counted ones that were dropped before they could be tested. */
  dropped: WindowCount;
}

/** A container whose log is watched. */
export interface LogWatch {
  /** The patterns to test, with their counts by the key of the values. */
  patterns: LogPattern[];
  /** Whether new lines are counted. */
  isOpen: boolean;
  error: string | null;
  /** Beginning of the next stream: at an end of the log, a time, or after the last counted line. */
  start: "end" | "beginning" | { since: string } | { cursor: string };
  /** When the last stream ended, in Unix milliseconds. */
  closedAt: number;
  close(): void;
}

/** The containers of a scope. */
export interface WatchedContainers {
  /** Positions in the list of all containers. */
  positions: readonly number[];
  names: ReadonlySet<string>;
}

export interface AlertMemory {
  /** `undefined` before the first round. */
  rules: readonly WatchedRule[] | undefined;
  /** Whether the rules have changed since they were read. */
  isStale: boolean;
  /** When the rules were last evaluated; `null` before the first round. */
  evaluatedAt: string | null;
  /** When that was last stored, in Unix milliseconds. */
  evaluatedStoredAt: number;
  /** The containers of each scope at a revision of the inventory. */
  scopes: { revision: number; byKey: Map<string, WatchedContainers> };
  /** Ids of containers that are being renamed; until their state has followed, they are not evaluated. */
  renaming: Set<string>;
  /** The last readings of slow sources by the key of the values, and when, in Unix milliseconds. */
  readings: Map<string, { reading: Reading; at: number }>;
  /** Keys of sources that are being read. A file system that does not answer is read once. */
  reading: Set<string>;
  /** By container id. */
  counts: Map<string, ContainerCounts>;
  /** The time from which on is counted, in Unix milliseconds: the end of the last maintenance. */
  countedFrom: number;
  network: NetworkRate | undefined;
  logs: Map<string, LogWatch>;
  /**
   * When each container had started in the last round that watched logs, by id; `undefined` before
   * the first one.
   */
  logRuns: ReadonlyMap<string, string | null> | undefined;
  /** When the disk was last predicted, in Unix milliseconds. */
  predictedAt: number;
  /** Ends of the certificates of `SSL_DOMAINS`; `undefined` before the first check. */
  certificates: { domain: string; port: number; expiresAt: string }[] | undefined;
}

export const createAlertMemory = (): AlertMemory => ({
  rules: undefined,
  isStale: true,
  evaluatedAt: null,
  evaluatedStoredAt: -Infinity,
  scopes: { revision: -1, byKey: new Map() },
  renaming: new Set(),
  readings: new Map(),
  reading: new Set(),
  counts: new Map(),
  countedFrom: -Infinity,
  network: undefined,
  logs: new Map(),
  logRuns: undefined,
  predictedAt: -Infinity,
  certificates: undefined,
});
