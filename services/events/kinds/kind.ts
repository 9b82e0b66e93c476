/** The interface of an event kind: all that the service says and decides about its events. @module */

import type { Severity } from "../../../db/notification_channels.ts";

/** For colors and icons: a problem, a lesser one, a recovery, or news. */
export const TONES = ["problem", "warning", "good", "news"] as const;
export type Tone = (typeof TONES)[number];

/** Beginning of the keys of objects of a swarm, which are the same on all of its managers. */
export const OF_SWARM = "swarm ";

/** Whether an event begins or ends a problem, or reports something else. */
export const PHASES = ["begin", "end", "report"] as const;
export type Phase = (typeof PHASES)[number];

/**
 * - `down`, `ill`, `loop`: of a container, by its own events
 * - `host`: a host of the fleet is away
 * - `deploy`: a stack could not be deployed
 * - `backup`: a stack or volumes could not be backed up
 * - `alert`, `monitor`: a rule or a monitor reports that containers do not work
 * - `measure`: a rule reports something else, e.g. a load
 * - `remediation`, `incident`: what was done about it
 */
export type SubjectKind =
  | "alert"
  | "backup"
  | "deploy"
  | "down"
  | "engine"
  | "host"
  | "ill"
  | "incident"
  | "loop"
  | "measure"
  | "monitor"
  | "remediation";

/** The object of an event that can belong to others. */
export interface KindSubject {
  /** E.g. `container web`. */
  key: string;
  kind: SubjectKind;
  /** Whether an outage of the engine explains it. Default: whether it is about containers. */
  isOfEngine?: boolean;
}

/** Text of a field; empty if it is missing. Events that callers send have any data. */
export type Field = (name: string) => string;

/** A push notification; `ids` are for the app. */
export interface PushMessage {
  title: string;
  body: string;
  ids: Record<string, string>;
}

/** A page of the dashboard, or an address, where people do something about an event. */
export interface Remedy {
  /** E.g. `Show container`. */
  text: string;
  to: string;
}

/** Names in data are those of containers and stacks; `name` is the first one, of limited length. */
interface Definition<Data extends object> {
  /** For the documentation and tooltips: when it is emitted. */
  description: string;
  /** Choices of kinds show `words` below the name of the group, e.g. `Containers: crash loop`. */
  group: string;
  words: string;

  /** The headline is the title and, if there is one, the name: `Crash loop: web`. */
  title: string;
  name?(field: Field): string;
  /** Facts such as `Exit code: 1`; empty ones are left out. `text` keeps line breaks. */
  lines?(field: Field, text: Field): string[];
  /** Default: that of the severity, `good` for the end of a problem, or `news`. */
  tone?: Tone;
  /** The tone, where the data decides. */
  toneOf?(field: Field): Tone | undefined;
  /** Default: `info`. */
  severity?: Severity;
  /** The severity, where the data decides. */
  severityOf?(data: Data): Severity | undefined;
  /** Default: `report`. */
  phase?: Phase;
  /** Kinds without it are not pushed. */
  push?(data: Data): PushMessage;
  /** Page of the dashboard that messages link to. Default: the overview. */
  page?: string;
  /** Whether the container or stack has a page below that one. */
  hasOwnPage?(data: Data): boolean;
  /** The overview shows it for a day among the problems, with this remedy. */
  remedy?(field: Field): Remedy;

  /** Identifies the messages about one problem. Default: the event stands alone. */
  thread?(data: Data, name: string): string | undefined;
  /** Events without a subject are news that stand alone. */
  subject?(data: Data, containers: readonly string[]): KindSubject;
  /** Key of the problem that it begins or ends. Default: by the subject. */
  problem?(data: Data): string;
  /** Other kinds of problems of the object that end with it. */
  alsoEnds?(data: Data): readonly SubjectKind[];
  /** Containers that it acted on, by name or the beginning of the id. */
  targets?(data: Data): readonly string[];
  /** The stack, of an event that is about no single container. */
  stack?(data: Data): string;
  /** Often over within a minute: if it begins again, the message waits for its end. */
  isOftenBrief?: true;
  /** Kinds that do not come after it any more: a receiver of one of them gets it instead. */
  insteadOf?: readonly string[];
  /** Kinds that report the same: a receiver of all of them does not get it. */
  reportedAs?(data: Data): readonly string[];
  /** The managers of a swarm report it about the same object: keys are those of the object, not of a host. */
  isShared?: true;
  /** It concerns every container. */
  isAboutAll?: true;
  /** It reports the last exit of a container, by `reason` and `exitCode`. */
  isExit?: true;
  /** The conditions of remediation rules are checked soon after it. */
  isRemediable?: true;
  /** Whether the problem still exists, as not every end of it is an event. */
  lasts?(container: { state: string; health: string | null }): boolean;
  /** `*` of a notification channel does not mean it, except as the end of a problem. */
  isOnlyByName?: true;
  /** A silence does not hold it back. */
  ignoresSilences?: true;

  /** Required to see it in the event stream. */
  permission: string;
  /** Only admins see it in the event stream. */
  isForAdmins?: true;
  /** Object that a limited API token must include to see it. Without one, no such token does. */
  scope?: "container" | "job";
}

/** An event kind with its defaults. `data` has the type of the data; its value has no meaning. */
export type Kind<Id extends string = string, Data extends object = object> =
  & Definition<Data>
  & { id: Id; data: Data; tone: Tone; severity: Severity; phase: Phase };

/** Page of a container or stack below another one. `/stacks/new` is the page of new stacks. */
export const ownPage = (page: string, name: string): string =>
  `${page}/${name === "new" ? "%6eew" : encodeURIComponent(name)}`;

const TONE_OF: Partial<Record<Severity, Tone>> = { critical: "problem", warning: "warning" };

/** Defines an event kind. */
export function kind<const Id extends string, Data extends object>(
  id: Id,
  definition: Definition<NoInfer<Data>> & { data: Data },
): Kind<Id, Data> {
  const { severity = "info", phase = "report" } = definition;
  const tone = TONE_OF[severity] ?? (phase === "end" ? "good" : "news");
  return { id, tone, severity, phase, ...definition };
}
