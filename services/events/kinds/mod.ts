/** Every kind of events, of all editions: a subscription outlives a change of the license. @module */

import { accountKinds } from "./accounts.ts";
import { alertKinds } from "./alerts.ts";
import { backupKinds } from "./backups.ts";
import { certificateKinds } from "./certificates.ts";
import { containerKinds } from "./containers.ts";
import { fleetKinds } from "./fleet.ts";
import { gitKinds } from "./git.ts";
import { hostKinds } from "./host.ts";
import { incidentKinds } from "./incidents.ts";
import { type Kind, kind } from "./kind.ts";
import { remediationKinds } from "./remediation.ts";
import { scheduleKinds } from "./schedules.ts";
import { stackKinds } from "./stacks.ts";
import { statusPageKinds } from "./status_pages.ts";
import { swarmKinds } from "./swarm.ts";
import { testKinds } from "./tests.ts";
import { updateKinds } from "./updates.ts";
import { uptimeKinds } from "./uptime.ts";

/** In the order in which they are offered. */
const KINDS = [
  ...alertKinds,
  ...containerKinds,
  ...hostKinds,
  ...fleetKinds,
  ...stackKinds,
  ...gitKinds,
  ...swarmKinds,
  ...updateKinds,
  ...backupKinds,
  ...scheduleKinds,
  ...certificateKinds,
  ...uptimeKinds,
  ...incidentKinds,
  ...statusPageKinds,
  ...remediationKinds,
  ...accountKinds,
  ...testKinds,
];

/** Every event kind with the shape of its data. */
export type EventMap = {
  [Each in (typeof KINDS)[number] as Each["id"]]: Each["data"];
};

export type EventKind = keyof EventMap;

/** Each kind knows its own data only; its events have it. */
export const EVENT_KINDS: readonly Kind<EventKind>[] = KINDS as readonly Kind<EventKind>[];

export const EVENT_KIND_IDS: readonly EventKind[] = KINDS.map(({ id }) => id);

const BY_ID: ReadonlyMap<string, Kind> = new Map(EVENT_KINDS.map((each) => [each.id, each]));

/** Custom events, and stored ones of a later version. Their fields describe them. */
const OTHER = kind("other", {
  data: {},
  description: "",
  group: "",
  words: "",
  title: "",
  name: () => "",
  permission: "",
});

/** The kind of an event. */
export const eventKind = (id: string): Kind => BY_ID.get(id) ?? OTHER;
