/**
 * Control messages: what both ends of a link say about the link itself, as JSON. Fields and types that
 * are not known come from a later version and are ignored.
 *
 * @module
 */

import * as z from "zod";
import { OUTGOING_MODES } from "../../../db/fleet_outgoing_events.ts";
import { type Bytes, KEY_BYTES } from "./noise.ts";

/** Limit of a control message, in bytes: events need most. */
export const CONTROL_MAX = 48 * 1024;

/** Limit of the events of a message. */
export const EVENTS_MAX = 20;

/** Limit of names, in characters. */
export const NAME_MAX = 100;

/** Names of hosts are parts of addresses, in which ids of hosts can stand as well. */
export const HOST_NAME = /^(?![0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$)[A-Za-z0-9][\w.-]{0,62}$/;

/** Text that is shown in terminals, without control characters. */
export const shownText = (max: number) =>
  z.string().max(max).transform((text) => text.replace(/\p{Cc}/gu, " "));

const Name = shownText(NAME_MAX).pipe(z.string().min(1));
const HostName = z.string().regex(HOST_NAME);
/** Versions are shown in terminals. */
export const Version = z.string().max(40).regex(/^[\w.+-]*$/);
const Counter = z.int().min(0);
/** Milliseconds of a clock. Others would make times that cannot be shown. */
const UnixMs = z.number().min(0).max(Date.parse("9999-12-31T23:59:59.999Z"));

/** An Ed25519 or X25519 key as base64url. */
const Key = z.base64url().refine((text) => text.length === Math.ceil(KEY_BYTES * 8 / 6));

/** Proof that this is the machine that connected last; see `hosts/challenge.ts`. */
const Challenge = z.object({ counter: Counter, proof: z.string().max(100) });

const Empty = z.looseObject({});

/** An event of a member; its data is checked where it is used. */
const PassedEvent = z.object({
  /** Increases with each event of the member. */
  sequence: Counter,
  /** The same whenever it is sent. */
  id: z.uuid(),
  mode: z.enum(OUTGOING_MODES),
  rootId: z.uuid().nullable(),
  stack: z.string().max(255).nullable(),
  event: z.object({
    event: z.string().max(100),
    eventId: z.uuid(),
    timestamp: z.iso.datetime(),
    data: z.record(z.string().max(100), z.unknown()),
  }),
});
export type PassedEvent = z.output<typeof PassedEvent>;

const TYPES = {
  /** First message of a member that joins. */
  enrol: z.object({
    name: HostName,
    version: Version,
    machine: shownText(200),
    noteKey: Key,
    /** Id of a host that is a member, and asks whether it still is one. */
    memberId: z.string().max(100).optional(),
  }),
  /** Its answer, and the last message of such a link. */
  enrolled: z.object({
    hostId: z.string().max(100),
    name: HostName,
    hubName: Name,
    noteKey: Key,
    isPending: z.boolean(),
  }),
  /** First message of a member. */
  hello: z.object({ version: Version, challenge: Challenge.nullable() }),
  /** Its answer. `isPending`: an admin of the hub has not accepted the host yet. */
  welcome: z.object({
    version: Version,
    isPending: z.boolean(),
    challenge: Challenge,
    takesEvents: z.boolean().default(false),
    /** Whether the hub tells blocks, and answers questions before automatic updates. */
    hasWaves: z.boolean().default(false),
  }),
  /**
   * The other answer: the hub closes the link. `isFinal`: the host was removed. `isUnknown`: no host has
   * the key, but this one may have another that the hub knows.
   */
  refused: z.object({
    reason: shownText(300),
    isFinal: z.boolean(),
    isUnknown: z.boolean().optional(),
  }),
  /** The member has stored the challenge. */
  kept: z.object({ counter: Counter }),
  /** The member has made new keys, which it uses as soon as the hub has stored them. */
  rekey: z.object({ linkKey: Key, noteKey: Key }),
  /** The hub has stored them. */
  rekeyed: z.object({ linkKey: Key }),
  /** The newest key of the hub for links, which the host uses from its next connection on. */
  hub_key: z.object({ linkKey: Key }),
  /** A key of the hub for notes, which follows one that the host knows; see `notes/succession.ts`. */
  note_key: z.object({ noteKey: Key, signature: z.base64url().max(100) }),
  /** The newest key of the hub for notes that the host has: at the beginning, and after a new one. */
  note_key_kept: z.object({ noteKey: Key }),
  /** An admin has accepted the host. */
  accepted: Empty,
  /** Labels and name of the host at the hub, after the welcome and after each change. */
  labels: z.object({
    labels: z.record(z.string().max(NAME_MAX).regex(/^\P{Cc}*$/u), shownText(NAME_MAX)),
    name: HostName.optional(),
  }),
  /** The member leaves the fleet. */
  leave: Empty,
  /** Of the member; the next ones follow when these were taken. */
  events: z.object({ events: z.array(PassedEvent).min(1).max(EVENTS_MAX) }),
  /** The hub has stored all events up to this one. The member tells people about those in `left`. */
  taken: z.object({ upTo: Counter, left: z.array(Counter).max(EVENTS_MAX) }),
  /** The hub keeps blocked images with this hash; `isAll`: it has told all of them. */
  blocks: z.object({ hash: z.string().max(64), isAll: z.boolean() }),
  /** The host keeps others. */
  blocks_wanted: Empty,
  /** A blocked image, as the hub has signed it; see `waves/block.ts`. */
  block: z.object({ text: z.string() }),
  /** The host has told what the hub did not have. */
  synced: Empty,
  /** The host asks whether it may install an image automatically. */
  ask: z.object({
    id: Counter,
    digest: z.string().max(100),
    platform: z.string().max(50),
    image: z.string().max(500),
  }),
  /** Its answer; `null`: it may. */
  answer: z.object({ id: Counter, refusal: shownText(600).nullable() }),
  beat: z.object({ id: Counter, at: UnixMs }),
  echo: z.object({ id: Counter, at: UnixMs }),
} as const;

type Types = typeof TYPES;

/** A message with its type; `Control<"beat">` for one of them. */
export type Control<Type extends keyof Types = keyof Types> = {
  [Each in Type]: { type: Each } & z.output<Types[Each]>;
}[Type];

/** A control message cannot be read; the link ends with this reason. */
export class ControlError extends Error {
  override readonly name = "ControlError";
}

export const encodeControl = (message: Control): Bytes =>
  new TextEncoder().encode(JSON.stringify(message));

/** @returns `undefined` for a type of a later version. @throws {ControlError} */
export function decodeControl(bytes: Bytes): Control | undefined {
  if (bytes.length > CONTROL_MAX) throw new ControlError("A control message is too long");
  let given: unknown;
  try {
    given = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new ControlError("A control message is not JSON", { cause });
  }
  const type = (given as { type?: unknown } | null)?.type;
  if (typeof type !== "string") throw new ControlError("A control message has no type");
  if (!Object.hasOwn(TYPES, type)) return undefined;
  const parsed = TYPES[type as keyof Types].safeParse(given);
  if (!parsed.success) throw new ControlError(`The control message ${type} has a wrong field`);
  return { type, ...parsed.data } as Control;
}
