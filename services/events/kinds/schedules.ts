/** Events about schedules. @module */

import { joined } from "../text.ts";
import { showContainer } from "./containers.ts";
import { kind } from "./kind.ts";
import { FAILED_UPDATES } from "./updates.ts";

export const scheduleKinds = [
  kind("schedule.failed", {
    data: {} as {
      schedule: string;
      scheduleId: string;
      container: string;
      image?: string;
      action: string;
      error: string;
      /** The failed update, which has events of its own; missing if none was started. */
      jobId?: string;
    },
    description: "A scheduled action failed; with the id of the job if it was an update",
    group: "Schedules",
    words: "failed",
    title: "Schedule failed",
    name: (field) => field("schedule"),
    lines: (field, text) => [
      [field("action"), joined("of ", field("container"))].join(" ").trim(),
      text("error"),
    ],
    severity: "warning",
    page: "/schedules",
    permission: "schedules:read",
    thread: ({ jobId }) => jobId,
    reportedAs: ({ jobId }) => jobId === undefined ? [] : FAILED_UPDATES,
    remedy: showContainer,
  }),
];
