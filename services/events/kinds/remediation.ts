/** Events about remediation rules (Pro). @module */

import { joined } from "../text.ts";
import { type Field, kind } from "./kind.ts";

const shared = {
  group: "Remediation",
  permission: "remediation:read",
  page: "/remediation",
  name: (field: Field) => field("rule"),
};

export const remediationKinds = [
  kind("remediation.executed", {
    ...shared,
    data: {} as {
      rule: string;
      ruleId: string;
      action: string;
      target: string;
      status: string;
      error: string | null;
    },
    description: "A remediation rule acted on a container (Pro)",
    words: "executed",
    title: "Remediation",
    lines: (field, text) => [
      [field("action"), joined("of ", field("target"))].join(" ").trim(),
      joined("Result: ", field("status")),
      text("error"),
    ],
    tone: "good",
    toneOf: (field) => field("status") === "success" ? undefined : "warning",
    severityOf: ({ status }) => status === "success" ? undefined : "warning",
    targets: ({ target }) => [target],
    subject: ({ ruleId }, [name]) => ({
      key: `remediation ${ruleId} ${name}`,
      kind: "remediation",
    }),
  }),
  kind("remediation.disabled", {
    ...shared,
    data: {} as { rule: string; ruleId: string; reason: string },
    description: "A remediation rule turned itself off (Pro)",
    words: "rule disabled",
    title: "Remediation rule disabled",
    lines: (_, text) => [text("reason")],
    severity: "warning",
  }),
];
