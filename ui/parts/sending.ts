/** Sending a message from the dashboard, and what became of it. @module */

import { sentenceOf, showAlert, showStatus } from "../state/toasts.ts";
import type { Delivery } from "./deliveries.tsx";
import { plain } from "../base/text.ts";

/**
 * When the result is read, in milliseconds after the last time. An attempt has 10 s; later results
 * are in the list of deliveries.
 */
const READ_AFTER_MS = [250, 750, 2_000, 4_000, 6_000];

/** Reads the newest deliveries. */
type Read = () => Promise<{ deliveries: readonly Delivery[] }>;

/**
 * Sends a message and shows its result.
 *
 * @param what E.g. `a test message to On-call`.
 * @param send Returns the id of the delivery.
 */
export async function sendWithResult(
  what: string,
  send: () => Promise<string>,
  read: Read,
): Promise<void> {
  try {
    const id = await send();
    const delivery = await resultOf(id, read, () => showStatus(`Sending ${what}`));
    if (delivery?.status === "sent") showStatus(`Sent ${what}`);
    else if (delivery?.error != null) showAlert(`Could not send ${what}: ${plain(delivery.error)}`);
    else showStatus(`Still sending ${what}; its deliveries will show the result`);
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}

/** @returns The delivery after its first attempt; as it is if that takes too long. */
async function resultOf(
  deliveryId: string,
  read: Read,
  onSlow: () => void,
): Promise<Delivery | undefined> {
  let delivery: Delivery | undefined;
  for (const [round, delay] of READ_AFTER_MS.entries()) {
    if (round === 1) onSlow();
    await new Promise((resolve) => setTimeout(resolve, delay));
    const { deliveries } = await read();
    delivery = deliveries.find(({ id }) => id === deliveryId);
    if (delivery && delivery.attempts > 0) break;
  }
  return delivery;
}
