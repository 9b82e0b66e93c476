/**
 * The interface of a kind of channel: the fields of its config and of its form, its request and what
 * it makes of the response.
 *
 * @module
 */

import type { ChannelDeps, OutboxOutcome } from "../../../events/outbox_channel.ts";
import { GONE, outcomeOfResponse } from "../../../events/outbox_outcome.ts";
import type { NotificationMessage } from "../../../events/message.ts";
import type { Config as ServiceConfig } from "../../../config/config.ts";

export type ConfigValue = string | number | string[] | Record<string, string>;
export type ChannelConfig = Record<string, ConfigValue>;

/** Pattern that a text must match, and the rule in words. */
export type Pattern = readonly [RegExp, rule: string];

/**
 * `address` is a URL that the service connects to, and `mailServer` one of a mail server; both are
 * checked by the outbound rules.
 */
export const FIELD_TYPES = [
  "text",
  "address",
  "mailServer",
  "number",
  "list",
  "headers",
  "template",
] as const;

/** A field of a config, and what a form says about it. */
export interface ConfigField {
  type: (typeof FIELD_TYPES)[number];
  label: string;
  hint?: string;
  placeholder?: string;
  /** Write-only, and sent only to the address for which it was given. */
  isSecret?: true;
  isOptional?: true;
  /** Of a text, or of each item of a list. */
  pattern?: Pattern;
  /** The possible values of a text. */
  options?: readonly string[];
}

type Fields = Readonly<Record<string, ConfigField>>;

type ValueOf<Field extends ConfigField> = Field["type"] extends "number" ? number
  : Field["type"] extends "list" ? string[]
  : Field["type"] extends "headers" ? Record<string, string>
  : string;

type OptionalIn<All extends Fields> = {
  [Name in keyof All]: All[Name] extends { isOptional: true } ? Name : never;
}[keyof All];

/** A config with these fields. */
export type ConfigOf<All extends Fields> =
  & { [Name in Exclude<keyof All, OptionalIn<All>>]: ValueOf<All[Name]> }
  & { [Name in OptionalIn<All>]?: ValueOf<All[Name]> };

/** One attempt to send. */
export interface Delivery {
  /** The same at each attempt. */
  id: string;
  message: NotificationMessage;
  /** The platform's id of the first message of this thread. */
  reference: string | undefined;
}

export interface KindRequest {
  url: string;
  /** Default: POST. */
  method?: string;
  headers?: Record<string, string>;
  /** An object is sent as JSON. */
  body: object | string;
}

/** A platform's response. Its text is never shown to users. */
export interface KindAnswer {
  status: number;
  headers: Record<string, string>;
  text: string;
}

interface Definition<Config extends object> {
  /** The product's name. */
  title: string;
  /** For forms and the documentation: what a channel of the kind leads to. */
  description: string;
  /** Whether it opens and closes an alert of its own, and must get each problem by itself. */
  isOnCall?: true;
  /** Returns the request of one attempt. Kinds without HTTP have `send` instead. */
  request?(config: Config, delivery: Delivery, now: Date): KindRequest;
  /** Default: {@linkcode outcomeOf}. */
  outcome?(answer: KindAnswer, now: Date): OutboxOutcome;
  send?(
    deps: ChannelDeps,
    config: Config,
    delivery: Delivery,
    signal: AbortSignal,
  ): Promise<OutboxOutcome>;
  /** The shortest time between two messages to a target, and the target's name. */
  pace?: { intervalMs: number; target(config: Config): string };
  /** Problem of a config whose fields are each right. */
  problem?(config: Config): string | undefined;
  /** The setting of the service that a channel with this config needs and that is missing, in words. */
  lacks?(config: Config, service: Pick<ServiceConfig, "smtpUrl">): string | undefined;
  /** Schemes of the URLs that stand for a config, e.g. `ntfy` for `ntfy://host/topic`. */
  schemes: readonly string[];
  /** Such a URL for people, e.g. `ntfy://host/topic`. */
  urlForm: string;
  /** Reads such a URL. @returns What is wrong with it; `undefined`: it has not the form. */
  fromUrl(url: ChannelUrl): Config | string | undefined;
}

/** A kind of channel: all that the service and the dashboard know about it. */
export type ChannelKind = Definition<ChannelConfig> & { id: string; fields: Fields };

/** Defines a kind of channel. Its config has the values of its fields. */
export const kind = <const Id extends string, const All extends Fields>(
  id: Id,
  definition: Definition<ConfigOf<NoInfer<All>>> & { fields: All },
): { id: Id } & typeof definition => ({ id, ...definition });

/** The parts of a URL, decoded. Its scheme is not a web address, so that no parser changes it. */
export interface ChannelUrl {
  scheme: string;
  username: string;
  password: string;
  /** With the port. */
  host: string;
  /** The parts of the path. */
  path: string[];
  /** Without `disabletls`. */
  query: URLSearchParams;
  /** The first of these parameters that is there and not empty; their case does not matter. */
  param(...names: string[]): string | undefined;
  /** `https://host`, or `http://host` with `disabletls=yes`, and the given parts of the path. */
  base(...path: string[]): string;
}

/** Statuses after which no later attempt can succeed. */
const FINAL: ReadonlySet<number> = new Set([400, 401, 404, 413, 422]);

/**
 * The outcome of a response.
 *
 * @param options.reason What the platform's own error code means; default: what the status means.
 * @param options.pauseMs A pause that the platform asked for in its body.
 */
export function outcomeOf(
  answer: Pick<KindAnswer, "status" | "headers">,
  now: Date,
  { reason = reasonOf(answer.status), pauseMs }: {
    reason?: string | undefined;
    pauseMs?: number | undefined;
  } = {},
): OutboxOutcome {
  return outcomeOfResponse(answer, now, { reason, pauseMs, final: FINAL });
}

function reasonOf(status: number): string | undefined {
  if (status === 401) return "the token or password is not valid";
  if (status === 403) return "the token or password is not allowed to send this";
  if (status === 404) return "the address does not exist";
  if (status === GONE) return "the platform accepts no more messages";
  if (status === 413) return "the message is too large";
  if (status === 429) return "too many messages";
  if (status < 400) return undefined;
  return status >= 500
    ? "the platform reported an internal error"
    : "the platform refused the message";
}

/** Parses a response that should be JSON. */
export function parseJson<T extends object>(text: string): Partial<T> {
  try {
    const value = JSON.parse(text);
    return value !== null && typeof value === "object" ? value : {};
  } catch {
    return {};
  }
}

/** Basic authorization (RFC 7617). */
export const basic = (username: string, password: string): string =>
  `Basic ${new TextEncoder().encode(`${username}:${password}`).toBase64()}`;

/** Prevents a name such as `@everyone` from being read as a mention. */
export const withoutMentions = (text: string): string => text.replace(/@(?=\S)/g, "@\u200b");

/** Escapes what Markdown of chats interprets, mentions included. */
export const escapeMarkdown = (text: string): string =>
  withoutMentions(text).replace(/[\\`*_~|>#[\]()!<:&$=+-]/g, "\\$&");

/** Escapes Slack's three control characters, without which a text has no mention and no link. */
export const escapeSlack = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const ID = /^[\w.~:@!#=+-]{1,256}$/;

/** A name or token that becomes a part of a path or a header. */
export const token: Pattern = [
  ID,
  "must have 1 to 256 letters, digits and . ~ : @ ! # = + -",
];
