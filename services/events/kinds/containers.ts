/** Events about a container. @module */

import { duration, joined } from "../text.ts";
import {
  type Field,
  kind,
  type KindSubject,
  ownPage,
  type Remedy,
  type SubjectKind,
} from "./kind.ts";

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

export interface ExitData extends ContainerData {
  reason: DownReason;
  exitCode: number | null;
}

const REASONS: Readonly<Record<string, string>> = {
  exited: "Exited",
  killed: "Killed",
  oom: "Out of memory",
  stopped: "Stopped",
};

/** E.g. `Exited (exit code 1)`. */
const endOf = (field: Field): string =>
  (REASONS[field("reason")] ?? field("reason")) + joined(" (exit code ", field("exitCode"), ")");

const PUSHED_REASONS: Record<DownReason, (exitCode: number | null) => string> = {
  exited: (exitCode) => exitCode === null ? "exited" : `exited with code ${exitCode}`,
  killed: () => "was killed",
  oom: () => "ran out of memory",
  stopped: () => "was stopped",
};

const LOOP_OUTCOMES: Readonly<Record<string, string>> = {
  running: "The container has been running for 10 minutes",
  exited: "The container did not start again",
  stopped: "The container was stopped, or finished its task",
  removed: "The container was removed",
};

const as = (kind: SubjectKind) => (_: object, [name]: readonly string[]): KindSubject => ({
  key: `container ${name}`,
  kind,
});

const shared = {
  group: "Containers",
  permission: "containers:read",
  scope: "container",
  page: "/containers",
  hasOwnPage: () => true,
  name: (field: Field) => field("container"),
  thread: (_: object, name: string) => `container ${name}`,
} as const;

export const showContainer = (field: Field): Remedy => ({
  text: "Show container",
  to: ownPage("/containers", field("container")),
});

export const containerKinds = [
  kind("container.down", {
    ...shared,
    data: {} as ExitData,
    isExit: true,
    isOftenBrief: true,
    isRemediable: true,
    description: "A container stopped other than by Longshore",
    words: "stopped",
    title: "Container down",
    lines: (field) => [endOf(field)],
    tone: "problem",
    severity: "warning",
    severityOf: ({ reason }) => reason === "oom" ? "critical" : undefined,
    phase: "begin",
    subject: as("down"),
    lasts: ({ state }) => state !== "running",
    push: ({ container, id, reason, exitCode }) => ({
      title: `${container} is down`,
      body: `the container ${PUSHED_REASONS[reason](exitCode)}`,
      ids: { containerId: id },
    }),
  }),
  kind("container.up", {
    ...shared,
    data: {} as ContainerData,
    description: "A container started",
    words: "started",
    title: "Container up",
    phase: "end",
    subject: as("down"),
    isOnlyByName: true,
  }),
  kind("container.unhealthy", {
    ...shared,
    data: {} as ContainerData & {
      /** Output of the last health check, at most 1 000 characters; `null` where unknown. */
      healthOutput: string | null;
    },
    isOftenBrief: true,
    isRemediable: true,
    description: "The health check of a container failed; with its output",
    words: "unhealthy",
    title: "Container unhealthy",
    lines: (_, text) => [text("healthOutput")],
    severity: "warning",
    phase: "begin",
    subject: as("ill"),
    lasts: ({ health }) => health === "unhealthy",
  }),
  kind("container.healthy", {
    ...shared,
    data: {} as ContainerData,
    description: "A container is healthy again; not while it is in a crash loop",
    words: "healthy again",
    title: "Container healthy",
    phase: "end",
    subject: as("ill"),
    isOnlyByName: true,
  }),
  kind("container.removed", {
    ...shared,
    data: {} as ContainerData,
    insteadOf: ["container.up", "container.healthy"],
    description: "A container was removed after a message about a problem of it",
    words: "removed after a problem",
    title: "Container removed",
    phase: "end",
    subject: as("down"),
    alsoEnds: () => ["ill", "loop"],
    hasOwnPage: () => false,
    isOnlyByName: true,
  }),
  kind("container.oom", {
    ...shared,
    data: {} as ContainerData,
    description: "A container ran out of memory",
    words: "out of memory",
    title: "Container out of memory",
    severity: "critical",
    phase: "begin",
    subject: as("ill"),
    lasts: ({ state }) => state !== "running",
  }),
  kind("container.crash_looping", {
    ...shared,
    data: {} as ExitData,
    isExit: true,
    description: "A container exited 3 times within 5 minutes; with its last exit",
    words: "crash loop",
    title: "Crash loop",
    lines: (field) => [endOf(field)],
    severity: "critical",
    phase: "begin",
    subject: as("loop"),
    lasts: () => true,
    push: ({ container, id }) => ({
      title: `${container} is in a crash loop`,
      body: "the container keeps exiting shortly after its start",
      ids: { containerId: id },
    }),
  }),
  kind("container.stable", {
    ...shared,
    data: {} as ContainerData & {
      outcome: LoopOutcome;
      /** Exits since the crash loop began. */
      exits: number;
      durationSeconds: number;
    },
    description:
      "A container in a crash loop neither exited nor started for 10 minutes, or was stopped or removed",
    words: "end of a crash loop",
    title: "Crash loop ended",
    lines: (field) => [
      LOOP_OUTCOMES[field("outcome")] ?? "",
      joined("Exits: ", field("exits")),
      joined("Lasted ", duration(field("durationSeconds"))),
    ],
    toneOf: (field) => field("outcome") === "exited" ? "problem" : undefined,
    severityOf: ({ outcome }) => outcome === "exited" ? "warning" : undefined,
    phase: "end",
    subject: as("loop"),
    alsoEnds: ({ outcome }) => outcome === "removed" ? ["down", "ill"] : [],
    hasOwnPage: ({ outcome }) => outcome !== "removed",
  }),
];
