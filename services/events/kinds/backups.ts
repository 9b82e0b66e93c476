/** Events about snapshots of stacks and volumes. @module */

import { joined, moment } from "../text.ts";
import { type Field, kind, type KindSubject } from "./kind.ts";

/** Data of the end of a backup. */
interface BackupData {
  /** A stack, volumes or Longshore itself. */
  backup: string;
  /** Identifies it, e.g. `stack shop`, because a volume can have the same name; missing in older events. */
  subject?: string;
  /** Name of the target. */
  place: string;
  jobId: string;
}

type Subject = Pick<BackupData, "backup" | "subject">;

const keyOf = ({ backup, subject = backup }: Subject): string => `backup ${subject}`;

/** Snapshot with its short id, as restic and commands show it. */
const snapshotLine = (field: Field) => joined("Snapshot: ", field("snapshot").slice(0, 8));

const shared = {
  group: "Backups",
  permission: "backup:read",
  page: "/backups",
  name: (field: Field) => field("backup"),
  thread: keyOf,
  subject: (data: Subject): KindSubject => ({ key: keyOf(data), kind: "backup" }),
} as const;

/** A backup at one target does not replace the one at another. */
const ofTarget = {
  ...shared,
  problem: (data: BackupData) => `${keyOf(data)} at ${data.place}`,
} as const;

export const backupKinds = [
  kind("backup.succeeded", {
    ...ofTarget,
    data: {} as BackupData & { snapshot: string; size: number; downtimeMs: number },
    description: "A snapshot of a stack or of volumes was stored",
    words: "backed up",
    title: "Backed up",
    phase: "end",
    isOnlyByName: true,
    lines: (field) => [joined("Target: ", field("place")), snapshotLine(field)],
  }),
  kind("backup.failed", {
    ...ofTarget,
    data: {} as BackupData & { reason: string | null },
    description: "A backup failed; the containers run as before",
    words: "backup failed",
    title: "Backup failed",
    severity: "warning",
    phase: "begin",
    lines: (field, text) => [joined("Target: ", field("place")), text("reason")],
    remedy: () => ({ text: "Show backups", to: "/backups" }),
    push: ({ backup, reason }) => ({
      title: `Backup of ${backup} failed`,
      body: reason ?? "",
      ids: { stack: backup },
    }),
  }),
  kind("backup.overdue", {
    ...shared,
    data: {} as Subject & {
      stack?: string;
      schedule: string;
      scheduleId: string;
      /** End of the last one; `null` if there was none. ISO 8601, UTC. */
      lastAt: string | null;
    },
    description: "A scheduled backup has not succeeded for twice its interval",
    words: "backup overdue",
    title: "Backup overdue",
    severity: "warning",
    phase: "begin",
    problem: ({ scheduleId }) => `backup schedule ${scheduleId}`,
    lines: (field) => [
      joined("Schedule: ", field("schedule")),
      `Last backup: ${field("lastAt") === "" ? "never" : moment(field("lastAt"))}`,
    ],
    remedy: () => ({ text: "Show backups", to: "/backups" }),
    push: ({ backup, lastAt }) => ({
      title: `Backup of ${backup} is overdue`,
      body: lastAt === null ? "There is none yet" : `The last one ended ${moment(lastAt)}`,
      ids: { stack: backup },
    }),
  }),
  kind("drill.failed", {
    group: "Backups",
    permission: "backup:read",
    page: "/backups",
    data: {} as {
      stack: string;
      /** Name of the target. */
      place: string;
      snapshot: string;
      reason: string | null;
      jobId: string;
    },
    description: "A snapshot of a stack could not be restored, or its containers failed on it",
    words: "drill failed",
    title: "Drill failed",
    name: (field) => field("stack"),
    severity: "warning",
    stack: ({ stack }) => stack,
    lines: (field, text) => [
      joined("Target: ", field("place")),
      snapshotLine(field),
      text("reason"),
    ],
    remedy: () => ({ text: "Show backups", to: "/backups" }),
    push: ({ stack, reason }) => ({
      title: `Drill of ${stack} failed`,
      body: reason ?? "",
      ids: { stack },
    }),
  }),
];
