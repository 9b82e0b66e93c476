/**
 * Addresses and tokens of the subscribers of status pages. Addresses are stored encrypted: those of
 * people are personal, and the address of a webhook is enough to post to it.
 *
 * @module
 */

import type { StoredSubscriber } from "../../../db/pro/status_pages/subscribers.ts";
import { nodeCrypto } from "../../builtins.ts";
import type { Secrets } from "../../secrets.ts";

/** The outbox's channel for each kind of address. */
export const SUBSCRIBER_CHANNELS = { email: "mail", webhook: "status-webhook" } as const;

/** Longest address (RFC 5321, 4.5.3.1.3, without the brackets), in characters. */
export const MAIL_ADDRESS_MAX = 254;

export const MAIL_ADDRESS_RULE = "must be a mail address such as ada@example.com";

/**
 * Whether a text is one mail address that can stand in an SMTP command: no quotes, comments, lists
 * or groups, which mail programs read in different ways (RFC 5321, 4.1.2: dot-string and domain).
 */
export function isMailAddress(text: string): boolean {
  const [local = "", domain = "", ...more] = text.split("@");
  return text.length <= MAIL_ADDRESS_MAX && more.length === 0 && local.length <= 64 &&
    /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u.test(local) &&
    /^[\p{L}\p{N}]([\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?(\.[\p{L}\p{N}]([\p{L}\p{N}\p{M}-]*[\p{L}\p{N}\p{M}])?)*$/u
      .test(domain);
}

export function sealAddress(secrets: Secrets, id: string, address: string): string {
  return secrets.seal(address, purposeOfAddress(id));
}

/** @throws {SealError} */
export function openAddress(
  secrets: Secrets,
  { id, sealed }: Pick<StoredSubscriber, "id" | "sealed">,
): string {
  return secrets.open(sealed, purposeOfAddress(id));
}

export function sealSigningSecret(secrets: Secrets, id: string, secret: string): string {
  return secrets.seal(secret, purposeOfSecret(id));
}

/** @returns `null` for a subscriber that has none. @throws {SealError} */
export function openSigningSecret(
  secrets: Secrets,
  { id, sealed_secret }: Pick<StoredSubscriber, "id" | "sealed_secret">,
): string | null {
  return sealed_secret === null ? null : secrets.open(sealed_secret, purposeOfSecret(id));
}

/** For the outbox: the token is stored nowhere in clear. */
export function sealVerifyToken(secrets: Secrets, id: string, token: string): string {
  return secrets.seal(token, purposeOfToken(id));
}

/** @throws {SealError} */
export function openVerifyToken(secrets: Secrets, id: string, sealed: string): string {
  return secrets.open(sealed, purposeOfToken(id));
}

/**
 * The token that ends a subscription. It is made from the subscriber's id, so that it needs no
 * place in the database and is still known for what it is when the subscriber is gone.
 */
export async function unsubscribeToken(secrets: Secrets, id: string): Promise<string> {
  return `${id}.${await secrets.fingerprint(`unsubscribe ${id}`)}`;
}

/** The subscriber that a token was made for; `undefined` for one that was not made here. */
export async function subscriberOfUnsubscribeToken(
  secrets: Secrets,
  token: string,
): Promise<string | undefined> {
  const [id = ""] = token.split(".", 1);
  const encoder = new TextEncoder();
  const [given, own] = [token, await unsubscribeToken(secrets, id)].map((text) =>
    encoder.encode(text)
  );
  const isOwn = given!.length === own!.length && nodeCrypto().timingSafeEqual(given!, own!);
  return isOwn ? id : undefined;
}

const purposeOfAddress = (id: string) => `status page subscriber ${id}`;
const purposeOfToken = (id: string) => `status page subscriber ${id} verification`;
const purposeOfSecret = (id: string) => `status page subscriber ${id} secret`;
