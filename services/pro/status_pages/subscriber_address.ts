/**
 * Addresses and tokens of subscribers. Addresses are stored encrypted: mail addresses are personal
 * data, and the address of a webhook is enough to post to it.
 *
 * @module
 */

import type { StoredSubscriber } from "../../../db/pro/status_pages/subscribers.ts";
import { timingSafeEqual } from "../../access/timing_safe_equal.ts";
import type { Secrets } from "../../secrets/secrets.ts";

/** The outbox channel of each kind of address. */
export const SUBSCRIBER_CHANNELS = { email: "mail", webhook: "status-webhook" } as const;

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

/** @returns `null` for a subscriber without a secret. @throws {SealError} */
export function openSigningSecret(
  secrets: Secrets,
  { id, sealed_secret }: Pick<StoredSubscriber, "id" | "sealed_secret">,
): string | null {
  return sealed_secret === null ? null : secrets.open(sealed_secret, purposeOfSecret(id));
}

/** Encrypts a token for the outbox, so that it is not stored in clear. */
export function sealVerifyToken(secrets: Secrets, id: string, token: string): string {
  return secrets.seal(token, purposeOfToken(id));
}

/** @throws {SealError} */
export function openVerifyToken(secrets: Secrets, id: string, sealed: string): string {
  return secrets.open(sealed, purposeOfToken(id));
}

/**
 * The token that ends a subscription. It is derived from the subscriber's ID, so that it is not
 * stored and can still be verified after the subscriber was deleted.
 */
export async function unsubscribeToken(secrets: Secrets, id: string): Promise<string> {
  return `${id}.${await secrets.fingerprint(`unsubscribe ${id}`)}`;
}

/** The subscriber of an unsubscribe token; `undefined` if this service did not issue it. */
export async function subscriberOfUnsubscribeToken(
  secrets: Secrets,
  token: string,
): Promise<string | undefined> {
  const [id = ""] = token.split(".", 1);
  return timingSafeEqual(token, await unsubscribeToken(secrets, id)) ? id : undefined;
}

const purposeOfAddress = (id: string) => `status page subscriber ${id}`;
const purposeOfToken = (id: string) => `status page subscriber ${id} verification`;
const purposeOfSecret = (id: string) => `status page subscriber ${id} secret`;
