/**
 * Sealed messages of a link. Each is one message of the transport (section 3 of the Noise
 * specification), at most 65,535 bytes: the AES-256-GCM ciphertext and its tag of
 *
 *     byte 0  kind: 0 a frame of streams (`yamux.ts`), 1 control, as JSON
 *     then    the content
 *
 * The number of the message is its nonce and is not sent: a repeated, missing or moved message cannot
 * be opened. Each direction gets a new key after 65,536 messages, i.e. at most 4 GiB.
 *
 * @module
 */

import { type Bytes, type Finished, MESSAGE_MAX, TAG_BYTES } from "./noise.ts";

export const KIND = { frame: 0, control: 1 } as const;
export type MessageKind = (typeof KIND)[keyof typeof KIND];

/** Maximum length of a content, in bytes. */
export const CONTENT_MAX = MESSAGE_MAX - TAG_BYTES - 1;

const REKEY_MESSAGES = 65_536;

/** A message is not what the peer must send; the link ends with this reason. */
export class SealedError extends Error {
  override readonly name = "SealedError";
}

/** Seals and opens messages, each in its order. Calls of one direction must not overlap. */
export function createSeal({ send, receive }: Finished, rekeyMessages = REKEY_MESSAGES) {
  let sent = 0;
  let received = 0;
  return {
    async seal(kind: MessageKind, content: Bytes): Promise<Bytes> {
      if (content.length > CONTENT_MAX) throw new TypeError("The content is too long");
      const plain = new Uint8Array(1 + content.length);
      plain[0] = kind;
      plain.set(content, 1);
      const sealed = await send.encrypt(plain);
      if (++sent % rekeyMessages === 0) await send.rekey();
      return sealed;
    },

    /** @throws {SealedError} */
    async open(sealed: Bytes): Promise<{ kind: MessageKind; content: Bytes }> {
      if (sealed.length > MESSAGE_MAX) throw new SealedError("A message is too long");
      const plain = await receive.decrypt(sealed).catch((cause) => {
        throw new SealedError("A message was not sealed by the peer, or not at this place", {
          cause,
        });
      });
      if (++received % rekeyMessages === 0) await receive.rekey();
      const kind = plain[0];
      if (kind !== KIND.frame && kind !== KIND.control) {
        throw new SealedError("A message is of an unknown kind");
      }
      return { kind, content: plain.subarray(1) };
    },
  };
}
