/** /api/events: the kinds of events. @module */

import * as z from "zod";
import { PHASES, TONES } from "../services/events/kinds/kind.ts";
import { EVENT_KINDS } from "../services/events/kinds/mod.ts";
import { SEVERITIES } from "../services/events/message.ts";
import { endpoint } from "./contract/endpoint.ts";

const Kind = z.object({
  id: z.string().meta({ example: "container.crash_looping" }),
  group: z.string().meta({ example: "Containers" }),
  words: z.string().meta({
    description: "Its name within the group",
    example: "crash loop",
  }),
  description: z.string().meta({ example: "A container exited 3 times within 5 minutes" }),
  tone: z.enum(TONES).meta({ description: "Of most events; the data of an event can change it" }),
  severity: z.enum(SEVERITIES).meta({ description: "As `tone`" }),
  phase: z.enum(PHASES).meta({
    description: "Whether it begins or ends a problem, or reports something else",
  }),
  permission: z.string().meta({
    description: "Required to see its events in the event stream",
    example: "containers:read",
  }),
  isOnlyByName: z.boolean().default(false).meta({
    description: "Notification channels with `*` get it only as the end of a problem",
  }),
}).meta({ id: "EventKind" });

export const eventEndpoints = () => [
  endpoint("GET /api/events/kinds", {
    operationId: "listEventKinds",
    summary: "List event kinds",
    description: "Everything that webhooks, channels and silences can name, by group. Kinds of " +
      "other editions are included: a subscription outlives a change of the license.",
    role: "viewer",
    permission: "system:read",
    orPermissions: ["webhooks:read", "notifications:read", "chatops:read", "alerts:read"],
    scope: "open",
    etag: true,
    returns: z.object({ kinds: z.array(Kind) }).meta({ id: "EventKindList" }),
  }, () => ({ kinds: [...EVENT_KINDS] })),
];
