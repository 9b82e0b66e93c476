/** Events about alert rules. @module */

import type { Severity } from "../../../db/notification_channels.ts";
import { joined } from "../text.ts";
import { type Field, kind, type KindSubject } from "./kind.ts";

/** Data of an alert's events. */
export interface AlertData {
  rule: string;
  ruleId: string;
  /** The alert event's id, the same when it fires and when it resolves. */
  alertId: string;
  metric: string;
  operator: string;
  threshold: number;
  value: number;
  message: string;
  severity?: Severity;
  /** The name of the container that the value belongs to; missing for the host. */
  container?: string;
  /** The image of that container. */
  image?: string;
  /** The stack of that container, or the one that the value belongs to. */
  stack?: string;
  /** Names of the containers that the value counts; with `container_stopped` only. */
  containers?: string[];
  /** The metric is the state of this; missing for a measured value such as a load. */
  stateOf?: "container" | "engine";
}

const shared = {
  group: "Alerts",
  permission: "alerts:read",
  page: "/alerts",
  /** The rule, with the container or stack that it is about. */
  name: (field: Field) =>
    field("rule") && field("rule") + joined(" (", field("container") || field("stack"), ")"),
  lines: (_: Field, text: Field) => [text("message")],
};

const ofAlert = {
  ...shared,
  data: {} as AlertData,
  thread: ({ alertId }: AlertData) => alertId,
  subject: ({ stateOf, ruleId, stack = "", container = stack }: AlertData): KindSubject => ({
    key: `alert ${ruleId} ${container}`,
    kind: stateOf === undefined ? "measure" : "alert",
    ...(stateOf === "engine" && { isOfEngine: true }),
  }),
};

export const alertKinds = [
  kind("alert.fired", {
    ...ofAlert,
    description: "The condition of an alert rule is met",
    words: "fired",
    title: "Alert",
    tone: "problem",
    toneOf: (field) => field("severity") === "info" ? "news" : undefined,
    severity: "warning",
    severityOf: ({ severity }) => severity,
    phase: "begin",
    push: ({ rule, ruleId, alertId, message }) => ({
      title: `Alert: ${rule}`,
      body: message,
      ids: { ruleId, alertId },
    }),
  }),
  kind("alert.resolved", {
    ...ofAlert,
    description: "The condition of an alert rule is not met any more",
    words: "resolved",
    title: "Alert resolved",
    phase: "end",
  }),
  kind("alert.no_data", {
    ...shared,
    data: {} as
      & Pick<AlertData, "rule" | "ruleId" | "metric" | "container" | "image" | "stack" | "message">
      & { severity: Severity },
    description: "The data of an alert rule is missing for longer than it allows; once each time",
    words: "without data",
    title: "Alert without data",
    severity: "warning",
    severityOf: ({ severity }) => severity,
  }),
];
