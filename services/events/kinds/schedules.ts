/** Events about schedules. @module */

import { joined } from "../text.ts";
import { showContainer } from "./containers.ts";
import { kind } from "./kind.ts";
import { FAILED_UPDATES } from "./updates.ts";

/** Events that report the failed job of a schedule of a kind; of the others, updates. */
const REPORTED: Readonly<Record<string, readonly string[]>> = {
  backup: ["backup.failed"],
  "own-backup": ["backup.failed"],
  drill: ["drill.failed"],
};

export const scheduleKinds = [
  kind("schedule.failed", {
    data: {} as {
      schedule: string;
      scheduleId: string;
      /** Id of the kind of the schedule. */
      kind?: string;
      action: string;
      /** The object that it acts on, in words; missing in events of earlier versions. */
      subject?: string;
      container?: string;
      stack?: string;
      image?: string;
      error: string;
      /** The failed job, which has events of its own; missing if none was started. */
      jobId?: string;
    },
    description: "A scheduled action failed; with the id of the job if it has events of its own",
    group: "Schedules",
    words: "failed",
    title: "Schedule failed",
    name: (field) => field("schedule"),
    lines: (field, text) => [
      [field("action"), joined("of ", field("subject") || field("container"))].join(" ").trim(),
      text("error"),
    ],
    severity: "warning",
    page: "/schedules",
    permission: "schedules:read",
    thread: ({ jobId }) => jobId,
    reportedAs: ({ jobId, kind }) =>
      jobId === undefined ? [] : REPORTED[kind ?? ""] ?? FAILED_UPDATES,
    remedy: (field) =>
      field("container") === ""
        ? { text: "Show schedules", to: "/schedules" }
        : showContainer(field),
  }),
];
