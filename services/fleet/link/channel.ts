/**
 * A connection after its handshake: sealed messages in both directions. The first byte of the first
 * message says which handshake follows, and is part of what both sides must agree on:
 *
 *     1  enrolment, XXpsk3; the payload of the first message is the id of the invite
 *     2  link, IK
 *
 * @module
 */

import { abortable } from "../../deadline.ts";
import type { Connection } from "./connection.ts";
import { type Control, ControlError, decodeControl, encodeControl } from "./control.ts";
import {
  type Bytes,
  concat,
  createHandshake,
  type Finished,
  HandshakeError,
  IK,
  type KeyPair,
  XXPSK3,
} from "./noise.ts";
import { createSeal, KIND, type MessageKind } from "./sealed.ts";

/** Agreed before anything is sealed; the number changes with each incompatible change. */
const PROTOCOL = "longshore fleet 1 ";

const ENROLMENT = 1;
const LINK = 2;

/** Ends a handshake whose peer does not answer, in milliseconds. */
export const HANDSHAKE_MS = 10_000;

export interface Channel extends Pick<Connection, "close" | "closed"> {
  /** Static key of the peer, which is proved with the first message that was received. */
  readonly peerKey: Bytes;
  /** Raises the limits of the connection: a key that was proved may be unknown. */
  trust(): void;
  send(kind: MessageKind, content: Bytes): Promise<void>;
  sendControl(message: Control): Promise<void>;
  receive(): Promise<{ kind: MessageKind; content: Bytes }>;
  /**
   * The next message, which must be one of these control messages.
   *
   * @throws {ControlError}
   */
  receiveControl<Type extends Control["type"]>(...types: Type[]): Promise<Control<Type>>;
}

/** An invite with its secret. */
export interface InviteSecret {
  id: string;
  /** 32 bytes. */
  secret: Bytes;
}

const encoder = new TextEncoder();

const prologueOf = (kind: number) => concat(encoder.encode(PROTOCOL), Uint8Array.of(kind));

/** Dials as an enrolled member. @throws If the peer does not have `hubKey`. */
export async function dialLink(
  connection: Connection,
  { keys, hubKey }: { keys: KeyPair; hubKey: Bytes },
): Promise<Channel> {
  const prologue = prologueOf(LINK);
  const handshake = createHandshake(IK, { isInitiator: true, prologue, keys, peerKey: hubKey });
  await connection.send(concat(Uint8Array.of(LINK), await handshake.write()));
  await handshake.read(await connection.receive());
  // Its answer has proved the key, and what follows may come at once.
  connection.trust();
  return createChannel(connection, await handshake.finish());
}

/**
 * Dials with an invite.
 *
 * @param options.assertHub Refuses a hub by its key, before it learns the key of this member.
 */
export async function dialEnrolment(
  connection: Connection,
  { keys, invite, assertHub }: {
    keys: KeyPair;
    invite: InviteSecret;
    assertHub: (key: Bytes) => Promise<void>;
  },
): Promise<Channel> {
  const prologue = prologueOf(ENROLMENT);
  const handshake = createHandshake(XXPSK3, {
    isInitiator: true,
    prologue,
    keys,
    psk: invite.secret,
  });
  const first = await handshake.write(encoder.encode(invite.id));
  await connection.send(concat(Uint8Array.of(ENROLMENT), first));
  await handshake.read(await connection.receive());
  await assertHub(handshake.peerKey!);
  await connection.send(await handshake.write());
  return createChannel(connection, await handshake.finish());
}

/** The hub's end of a handshake. `inviteId` only of an enrolment. */
export interface Admitted {
  channel: Channel;
  inviteId: string | undefined;
}

/**
 * Answers a handshake as the hub.
 *
 * @param options.findInvite The secret of an invite that can still be used.
 * @throws {HandshakeError} If the peer speaks something else, or knows no invite.
 */
export async function admit(
  connection: Connection,
  { keys, findInvite }: {
    keys: KeyPair;
    findInvite: (id: string) => Bytes | undefined;
  },
): Promise<Admitted> {
  const message = await connection.receive();
  const [kind, rest] = [message[0] ?? 0, message.subarray(1)];
  const side = { isInitiator: false, prologue: prologueOf(kind), keys };
  if (kind === LINK) {
    const handshake = createHandshake(IK, side);
    await handshake.read(rest);
    await connection.send(await handshake.write());
    const channel = createChannel(connection, await handshake.finish());
    return { channel, inviteId: undefined };
  }
  if (kind !== ENROLMENT) throw new HandshakeError("Unknown kind of handshake");
  const handshake = createHandshake(XXPSK3, side);
  const inviteId = new TextDecoder().decode(await handshake.read(rest));
  const secret = findInvite(inviteId);
  if (!secret) throw new HandshakeError("The invite is unknown, used or expired");
  handshake.setSecret(secret);
  await connection.send(await handshake.write());
  await handshake.read(await connection.receive());
  return { channel: createChannel(connection, await handshake.finish()), inviteId };
}

/** Limits the time of a handshake, and closes the connection with the reason if it fails. */
export async function withinHandshake<T>(
  connection: Pick<Connection, "close">,
  work: () => Promise<T>,
  signal = AbortSignal.timeout(HANDSHAKE_MS),
): Promise<T> {
  try {
    return await abortable(work(), signal);
  } catch (error) {
    connection.close(signal.aborted ? "the handshake took too long" : reasonOf(error));
    throw error;
  }
}

const PEER_ERRORS = [
  ...["HandshakeError", "SealedError", "ControlError", "ProtocolError", "ConnectionEnd"],
];

/** Whether an error is about what a peer has sent, or about its end. */
export const isPeerError = (error: unknown): error is Error =>
  error instanceof Error && PEER_ERRORS.includes(error.name);

/** Messages of our own errors may be seen by the peer, others not. */
export const reasonOf = (error: unknown): string =>
  isPeerError(error) ? error.message : "internal error";

function createChannel(connection: Connection, finished: Finished): Channel {
  const { seal, open } = createSeal(finished);
  let sending: Promise<void> = Promise.resolve();

  /** In order, because the number of a message is its place. */
  function send(kind: MessageKind, content: Bytes): Promise<void> {
    const sent = sending.then(async () => connection.send(await seal(kind, content)));
    sending = sent.catch(() => {});
    return sent;
  }

  const receive = async () => await open(await connection.receive());

  return {
    peerKey: finished.peerKey,
    close: connection.close,
    closed: connection.closed,
    trust: connection.trust,
    send,
    sendControl: (message) => send(KIND.control, encodeControl(message)),
    receive,
    async receiveControl<Type extends Control["type"]>(...types: Type[]) {
      const { kind, content } = await receive();
      const message = kind === KIND.control ? decodeControl(content) : undefined;
      if (!message || !types.includes(message.type as Type)) {
        throw new ControlError(`The peer must first send ${types.join(" or ")}`);
      }
      return message as Control<Type>;
    },
  };
}
