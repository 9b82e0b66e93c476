/**
 * The one line of an invite, or of a host that waits for its hub. A token is `lsjoin_` or `lsadd_` and
 * the base64url of
 *
 *     byte 0       version, 1
 *     bytes 1-16   id of the invite
 *     bytes 17-48  SHA-256 of the X25519 key of the side that has made it
 *     bytes 49-80  secret of the invite, which is never sent
 *     then         address of that side
 *
 * @module
 */

import { AppError } from "../../errors.ts";
import { type Bytes, concat } from "../link/noise.ts";
import { toBytes, toText } from "./keys.ts";

/** Content of a token. */
export interface FleetToken {
  /** Base64url. */
  inviteId: string;
  /** Of the key of the side that has made it: the hub, or the host that waits for one. */
  fingerprint: string;
  /** 32 bytes. */
  secret: Bytes;
  /** `https://…` or `http://…`. */
  address: string;
}

/** Use of a token: at a host, or at a hub. */
const PREFIX = { join: "lsjoin_", add: "lsadd_" } as const;
type Use = keyof typeof PREFIX;

const VERSION = 1;

/** Sizes in bytes. */
export const INVITE_ID_BYTES = 16;
export const SECRET_BYTES = 32;
const FINGERPRINT_BYTES = 32;

/** Limit of an address, in characters. */
export const ADDRESS_MAX = 300;

/** Limit of a token, in characters. */
export const TOKEN_MAX = 700;

export function encodeToken(
  { inviteId, fingerprint, secret, address }: FleetToken,
  use: Use = "join",
): string {
  const url = new TextEncoder().encode(address);
  const fixed = concat(toBytes(inviteId), toBytes(fingerprint), secret);
  return PREFIX[use] + toText(concat(Uint8Array.of(VERSION), fixed, url));
}

/** @throws {AppError} `invalid`; the message does not quote the token. */
export function decodeToken(token: string, use: Use = "join"): FleetToken {
  const prefix = PREFIX[use];
  const invalid = (cause?: unknown) =>
    new AppError("invalid", "The token is damaged: copy the whole line again", { cause });
  if (!token.startsWith(prefix) || token.length > TOKEN_MAX) throw invalid();
  let bytes: Bytes;
  try {
    bytes = toBytes(token.slice(prefix.length));
  } catch (cause) {
    throw invalid(cause);
  }
  if (bytes[0] !== VERSION) {
    throw new AppError("invalid", "The token is of another version: update Longshore on this host");
  }
  let at = 1;
  const take = (length: number) => bytes.slice(at, at += length);
  const inviteId = toText(take(INVITE_ID_BYTES));
  const fingerprint = toText(take(FINGERPRINT_BYTES));
  const secret = take(SECRET_BYTES);
  const address = new TextDecoder().decode(bytes.subarray(at));
  if (!isHubAddress(address)) throw invalid();
  return { inviteId, fingerprint, secret, address };
}

/** Whether a text is the address of a server: a scheme, a host, and perhaps a port and a path. */
export function isHubAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && text.length <= ADDRESS_MAX && /^https?:$/.test(url.protocol) &&
    url.username === "" && url.password === "" && url.search === "" && url.hash === "";
}
