/** /api/silences: no messages about some events for some time. @module */

import * as z from "zod";
import { matchesAny } from "../services/access/scope.ts";
import { SEVERITIES } from "../services/events/message.ts";
import {
  changeSilence,
  createSilence,
  listSilences,
  removeSilence,
  type Silence as SilenceView,
  SILENCE_STATES,
} from "../services/alerts/silences/silences.ts";
import type { Deps } from "../services/deps.ts";
import { EVENT_KIND_IDS } from "../services/events/kinds/mod.ts";
import { endpoint } from "./contract/endpoint.ts";
import { Done, Instant, Timestamp } from "./contract/shapes.ts";

const Pattern = z.string().min(1).max(255);

const matchers = {
  event: Pattern.meta({ description: "A kind of event", example: "container.*" }),
  container: Pattern.meta({ description: "A container's name", example: "batch*" }),
  stack: Pattern.meta({ description: "A stack's name" }),
  rule: Pattern.meta({ description: "The id or name of an alert or remediation rule" }),
  severity: z.enum(SEVERITIES),
};

const Matchers = z.object(matchers).partial()
  .meta({
    id: "SilenceMatchers",
    description: "All of them must match; in texts, `*` stands for any text. An event about " +
      "several containers matches if all of them do",
  });

const GivenMatchers = z.strictObject({
  ...matchers,
  event: matchers.event.refine(
    (pattern) => EVENT_KIND_IDS.some((kind) => matchesAny([pattern], kind)),
    {
      error: "must match a kind of event, such as container.down or container.*",
    },
  ),
}).partial().refine((given) => Object.values(given).some((value) => value !== undefined), {
  error: "must have at least one of event, container, stack, rule and severity",
}).meta({ id: "NewSilenceMatchers" });

const EndsAt = Instant.meta({ description: "At most 366 days from now" });

const Comment = z.string().max(500);

const NewSilence = z.object({
  matchers: GivenMatchers,
  startsAt: Instant.optional().meta({ description: "Default: now" }),
  endsAt: EndsAt,
  comment: Comment.default(""),
}).meta({
  id: "NewSilence",
  example: {
    matchers: { event: "container.*", container: "batch*" },
    endsAt: "2026-01-31T12:00:00Z",
    comment: "Restarts until the import is done",
  },
});

const SilenceChanges = z.object({
  matchers: GivenMatchers,
  startsAt: Instant,
  endsAt: EndsAt,
  comment: Comment,
}).partial().meta({ id: "SilenceChanges", example: { endsAt: "2026-01-31T14:00:00Z" } });

const Silence = z.object({
  id: z.string(),
  matchers: Matchers,
  startsAt: Timestamp,
  endsAt: Timestamp,
  comment: z.string(),
  createdBy: z.string().meta({ description: "Id of the user", example: "key" }),
  createdAt: Timestamp,
  state: z.enum(SILENCE_STATES),
}).meta({ id: "Silence" });

const READ = { role: "viewer", permission: "alerts:read" } as const;
const WRITE = { role: "operator", permission: "alerts:write" } as const;

export const silenceEndpoints = (deps: Deps) => [
  endpoint("GET /api/silences", {
    operationId: "listSilences",
    summary: "List silences",
    description: "The one that ends last comes first. Ended ones are kept for 7 days.",
    ...READ,
    returns: z.object({ silences: z.array(Silence) }).meta({ id: "SilenceList" }),
  }, () => ({ silences: listSilences(deps) })),

  endpoint("POST /api/silences", {
    operationId: "createSilence",
    summary: "Create a silence",
    description: "Until the silence ends, matching events cause no notifications, chat messages " +
      "and pushes; the event stream and webhooks have them. A problem that begins and ends " +
      "meanwhile is never reported; one that lasts is reported once after the silence. New " +
      "sign-ins cannot be silenced.",
    ...WRITE,
    body: NewSilence,
    returns: Silence,
    status: 201,
    failures: { 409: "The limit of silences is reached" },
  }, ({ body, caller, note }) => {
    const silence = createSilence(deps, body, caller);
    note.targets = targetsOf(silence);
    note.command = JSON.stringify(body);
    return silence;
  }),

  endpoint("PUT /api/silences/:id", {
    operationId: "updateSilence",
    summary: "Update a silence",
    description: "Omitted fields keep their values; `matchers` replaces all of them. The change " +
      "applies at once: what the silence no longer holds back and is still wrong is reported " +
      "within seconds.",
    ...WRITE,
    body: SilenceChanges,
    returns: Silence,
    failures: { 404: "The silence does not exist", 409: "The silence has ended" },
  }, ({ params, body, note }) => {
    const silence = changeSilence(deps, params.id, body);
    note.targets = targetsOf(silence);
    note.command = JSON.stringify(body);
    return silence;
  }),

  endpoint("DELETE /api/silences/:id", {
    operationId: "deleteSilence",
    summary: "Delete a silence",
    description: "What it held back and is still wrong is reported within seconds.",
    ...WRITE,
    returns: Done,
    failures: { 404: "The silence does not exist" },
  }, ({ params }) => removeSilence(deps, params.id)),
];

/** Targets of a silence in the audit log. */
const targetsOf = ({ matchers: { container, stack, rule } }: SilenceView): string[] =>
  [container, stack, rule].filter((name) => name !== undefined);
