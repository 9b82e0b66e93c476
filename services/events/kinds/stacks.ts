/** Events about stacks. @module */

import { joined } from "../text.ts";
import { type CommitData, commitLines } from "./git.ts";
import { type Field, kind, type KindSubject, ownPage } from "./kind.ts";

/** Data of the events of a deploy. */
interface DeployData extends Partial<CommitData> {
  stack: string;
  /** Of the stored sources. */
  version: number;
  /** Why it failed; `null` if it succeeded. */
  reason: string | null;
  jobId: string;
}

const shared = {
  group: "Stacks",
  permission: "stacks:read",
  scope: "job",
  page: "/stacks",
  hasOwnPage: () => true,
  name: (field: Field) => field("stack"),
  stack: ({ stack }: { stack: string }) => stack,
} as const;

const deploy = {
  ...shared,
  data: {} as DeployData,
  lines: (field: Field, text: Field) => [
    joined("Version: ", field("version")),
    ...commitLines(field),
    text("reason"),
  ],
  thread: (_: object, name: string) => `deploy ${name}`,
  subject: ({ stack }: DeployData): KindSubject => ({ key: `deploy ${stack}`, kind: "deploy" }),
};

const push = (outcome: string) => ({ stack, reason }: DeployData) => ({
  title: `Deploy of ${stack} ${outcome}`,
  body: reason ?? "",
  ids: { stack },
});

export const stackKinds = [
  kind("deploy.succeeded", {
    ...deploy,
    description: "A stack was deployed",
    words: "deployed",
    title: "Stack deployed",
    phase: "end",
    isOnlyByName: true,
  }),
  kind("deploy.rolled_back", {
    ...deploy,
    description: "A new container failed, and the stack is as it was before",
    words: "deploy rolled back",
    title: "Deploy rolled back",
    severity: "warning",
    phase: "begin",
    push: push("was rolled back"),
  }),
  kind("deploy.failed", {
    ...deploy,
    description: "A deploy changed nothing, or the caller asked not to roll it back",
    words: "deploy failed",
    title: "Deploy failed",
    severity: "warning",
    phase: "begin",
  }),
  kind("deploy.needs_attention", {
    ...deploy,
    description: "Neither a deploy nor its rollback succeeded",
    words: "deploy needs attention",
    remedy: (field) => ({ text: "Show stack", to: ownPage("/stacks", field("stack")) }),
    title: "Deploy needs attention",
    severity: "critical",
    phase: "begin",
    push: push("needs attention"),
  }),
  kind("stack.down_failed", {
    ...shared,
    data: {} as Pick<DeployData, "stack" | "reason" | "jobId">,
    description: "Containers, networks, volumes or images of a stack could not be removed",
    words: "not removed completely",
    title: "Stack not removed",
    lines: (_, text) => [text("reason")],
    severity: "warning",
    thread: ({ jobId }) => jobId,
  }),
];
