/** Events about stacks from Git repositories. @module */

import { joined } from "../text.ts";
import { type Field, kind } from "./kind.ts";

/** The commit that an event is about. */
export interface CommitData {
  commit: string;
  /** `Name <address>`. */
  author: string;
  /** The first line. */
  message: string;
  /** Signer; missing without a checked signature. */
  signer?: string;
}

/** Lines of messages about a commit; empty ones are left out. */
export const commitLines = (field: Field): string[] => [
  joined("Commit: ", field("commit").slice(0, 10)),
  joined("Author: ", field("author")),
  joined("Message: ", field("message")),
];

const shared = {
  group: "Stacks",
  page: "/git",
} as const;

const ofRepository = {
  ...shared,
  permission: "git:read",
  name: (field: Field) => field("repository"),
} as const;

export const gitKinds = [
  kind("git.planned", {
    ...shared,
    data: {} as CommitData & {
      stack: string;
      /** Name of the repository. */
      repository: string;
      version: number;
      /** E.g. `recreate web`; empty if nothing changes. */
      changes: string[];
    },
    description: "A commit has become a version of a stack whose plans are reported",
    words: "commit planned",
    title: "Commit planned",
    permission: "stacks:read",
    scope: "job",
    page: "/stacks",
    hasOwnPage: () => true,
    name: (field) => field("stack"),
    stack: ({ stack }) => stack,
    lines: (field) => [...commitLines(field), joined("Changes: ", field("changes"))],
    push: ({ stack, message }) => ({
      title: `New commit for ${stack}`,
      body: message,
      ids: { stack },
    }),
  }),
  kind("git.fetch_failed", {
    ...ofRepository,
    data: {} as { repository: string; reason: string },
    description: "A Git repository could not be fetched; reported once until it works again",
    words: "Git fetch failed",
    title: "Git fetch failed",
    lines: (_, text) => [text("reason")],
    severity: "warning",
    thread: ({ repository }) => `git ${repository}`,
  }),
  kind("git.commit_refused", {
    ...ofRepository,
    data: {} as CommitData & {
      repository: string;
      /** Missing for a commit that is refused for all stacks. */
      stack?: string;
      reason: string;
    },
    description: "A commit was not accepted: its signature, or its Compose file has errors",
    words: "commit refused",
    title: "Commit refused",
    lines: (field, text) => [
      joined("Stack: ", field("stack")),
      ...commitLines(field),
      text("reason"),
    ],
    severity: "warning",
    thread: ({ repository, stack }) => `git ${repository} ${stack ?? ""}`,
  }),
];
