/** Events about the hosts of a fleet, at its hub. @module */

import { joined } from "../text.ts";
import { type Field, kind, type KindSubject } from "./kind.ts";

interface HostData {
  /** Its name in the fleet. */
  host: string;
  hostId: string;
}

/** An image that failed on a host. */
interface BlockData {
  /** Name of the host that it failed on. */
  host: string;
  /** The reference. */
  image: string;
  digest: string;
  /** E.g. `linux/amd64`. */
  platform: string;
}

const shared = {
  group: "Fleet",
  permission: "fleet:read",
  page: "/hosts",
  name: (field: Field) => field("host"),
} as const;

const reachability = {
  ...shared,
  thread: ({ hostId }: HostData) => `fleet host ${hostId}`,
  subject: ({ hostId }: HostData): KindSubject => ({
    key: `fleet host ${hostId}`,
    kind: "host",
  }),
};

export const fleetKinds = [
  kind("host.joined", {
    ...shared,
    data: {} as HostData & {
      address: string;
      machine: string;
      /** Whether an admin has to accept it. */
      isPending: boolean;
    },
    description: "A host has joined the fleet, or waits until an admin accepts it",
    words: "host joined",
    title: "Host joined",
    lines: (field) => [
      joined("Address: ", field("address")),
      joined("Machine: ", field("machine")),
      field("isPending") === "true" ? "It waits until an admin accepts it" : "",
    ],
  }),
  kind("host.away", {
    ...reachability,
    data: {} as HostData & {
      address: string;
      /** ISO 8601, UTC. */
      since: string;
    },
    description: "A host of the fleet is away: its last message is two minutes old",
    words: "host away",
    title: "Host away",
    severity: "critical",
    phase: "begin",
    lines: (field) => [joined("Last address: ", field("address"))],
    remedy: () => ({ text: "Show hosts", to: "/hosts" }),
    push: ({ host }) => ({ title: `Host ${host} is away`, body: "", ids: {} }),
  }),
  kind("host.back", {
    ...reachability,
    data: {} as HostData,
    description: "A host of the fleet is connected again",
    words: "host back",
    title: "Host back",
    phase: "end",
  }),
  kind("fleet.run_ended", {
    ...shared,
    data: {} as {
      jobId: string;
      /** E.g. `prune`. */
      action: string;
      /** Status of the job. */
      status: string;
      /** Numbers of hosts. */
      hosts: number;
      done: number;
      /** Names of up to 20 others. */
      failed: string[];
    },
    description: "An action on several hosts has ended, on all of them or not",
    words: "run on hosts ended",
    title: "Run on hosts ended",
    name: (field) => field("action"),
    severityOf: ({ status }) => status === "failed" ? "warning" : undefined,
    toneOf: (field) => field("status") === "failed" ? "warning" : undefined,
    lines: (field) => [
      `Done: ${field("done")} of ${field("hosts")} hosts`,
      joined("Not done: ", field("failed")),
    ],
  }),
  kind("host.duplicate", {
    ...shared,
    data: {} as HostData & {
      /** Of the machine that was refused. */
      address: string;
      /** Of the one that is connected, or was connected last. */
      otherAddress: string;
    },
    description: "Two machines have the key of one host, because one is a copy; one was refused",
    words: "duplicate host",
    title: "Two machines have the key of one host",
    severity: "warning",
    lines: (field) => [
      joined("Refused: ", field("address")),
      joined("Other address: ", field("otherAddress")),
      "Let the copy leave the fleet and join it again",
    ],
    remedy: () => ({ text: "Show hosts", to: "/hosts" }),
  }),
  kind("update.blocked", {
    ...shared,
    data: {} as BlockData & {
      /** Empty for this server itself. */
      hostId: string;
      container: string;
      reason: string;
    },
    description: "An image failed on a host, and no other host of the fleet gets it automatically",
    words: "image blocked",
    title: "Image blocked for the fleet",
    severity: "warning",
    lines: (field) => [
      joined("Image: ", field("image")),
      joined("Reason: ", field("reason")),
      joined("Platform: ", field("platform")),
    ],
    remedy: () => ({ text: "Show hosts", to: "/hosts" }),
  }),
  kind("update.block_lifted", {
    ...shared,
    data: {} as BlockData & {
      /** Id of the user, or name of the token. */
      by: string;
    },
    description: "A person has allowed an image again that had failed on a host",
    words: "block lifted",
    title: "Image allowed again",
    lines: (field) => [joined("Image: ", field("image")), joined("Platform: ", field("platform"))],
  }),
];
