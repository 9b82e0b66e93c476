/** Events about the host and its container engine. @module */

import { duration, joined, moment } from "../text.ts";
import { kind } from "./kind.ts";

const shared = { group: "Host", permission: "system:read" };

const engine = {
  ...shared,
  isAboutAll: true as const,
  thread: () => "engine",
  subject: () => ({ key: "engine", kind: "engine" } as const),
};

export const hostKinds = [
  kind("engine.down", {
    ...engine,
    data: {} as {
      error: string;
      /** Number of containers that ran before. */
      containers: number;
    },
    description: "The container engine cannot be reached",
    words: "container engine down",
    title: "Container engine down",
    lines: (field, text) => [joined("Containers: ", field("containers")), text("error")],
    severity: "critical",
    phase: "begin",
    push: ({ containers }) => ({
      title: "Container engine down",
      body: `${containers} containers ran`,
      ids: {},
    }),
  }),
  kind("engine.up", {
    ...engine,
    data: {} as {
      downtimeSeconds: number;
      /** Number of containers that run now. */
      containers: number;
      /** Names of the containers that ran before and do not run now. */
      stopped: string[];
    },
    description: "The container engine responds again",
    words: "container engine up",
    title: "Container engine up",
    lines: (field) => [
      joined("Was down for ", duration(field("downtimeSeconds"))),
      joined("Running containers: ", field("containers")),
      joined("Not running any more: ", field("stopped")),
    ],
    toneOf: (field) => field("stopped") === "" ? undefined : "warning",
    phase: "end",
  }),
  kind("engine.unreadable", {
    ...shared,
    subject: () => ({ key: "engine list", kind: "measure" } as const),
    data: {} as { error: string },
    description: "The container engine responds, but its containers cannot be listed",
    words: "containers not readable",
    title: "Containers cannot be listed",
    lines: (_, text) => ["The container engine responds", text("error")],
    severity: "critical",
    phase: "begin",
  }),
  kind("engine.readable", {
    ...shared,
    subject: () => ({ key: "engine list", kind: "measure" } as const),
    data: {} as { unreadableSeconds: number },
    description: "The engine's containers can be listed again",
    words: "containers readable again",
    title: "Containers can be listed again",
    lines: (field) => [joined("Were unknown for ", duration(field("unreadableSeconds")))],
    phase: "end",
  }),
  kind("host.disk_full_soon", {
    ...shared,
    data: {} as {
      path: string;
      /** Used now. */
      percent: number;
      hoursLeft: number;
      /** ISO 8601, UTC. */
      fullAt: string;
    },
    description: "The host's disk is full within 24 hours if it fills as in the last six hours",
    words: "disk full soon",
    title: "Disk full soon",
    name: (field) => field("path"),
    lines: (field) => [
      joined("Used: ", field("percent"), " %"),
      joined("Full at: ", moment(field("fullAt"))),
    ],
    severity: "warning",
    page: "/host",
    remedy: () => ({ text: "Show disk use", to: "/host" }),
  }),
];
