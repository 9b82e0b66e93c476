/**
 * Sending a message from the dashboard, and what became of it.
 *
 * @module
 */

import { api } from "../../api/client.ts";
import type { NotificationChannel, NotificationDelivery } from "../../api/types.ts";
import { plain } from "../../components/text.ts";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";

/**
 * When the result is read, in milliseconds after the last time. An attempt has 10 s; later results
 * are in the list of deliveries.
 */
const READ_AFTER_MS = [250, 750, 2_000, 4_000, 6_000];

/** How many of the newest deliveries are searched for the message. */
const SEARCHED = 50;

/** Sends a test message and shows its result. */
export const sendTest = (channel: NotificationChannel): Promise<void> =>
  send(
    channel,
    `a test message to ${plain(channel.name)}`,
    () => api("POST /api/notifications/channels/{id}/test", { path: { id: channel.id } }),
  );

/** Sends a message again and shows its result. */
export const replay = (
  channel: NotificationChannel,
  { id }: NotificationDelivery,
): Promise<void> =>
  send(
    channel,
    `the message to ${plain(channel.name)} again`,
    () => api("POST /api/notifications/deliveries/{id}/replay", { path: { id } }),
  );

/** @param what E.g. `a test message to On-call`. */
async function send(
  { id }: NotificationChannel,
  what: string,
  work: () => Promise<{ deliveryId: string }>,
): Promise<void> {
  try {
    const { deliveryId } = await work();
    const delivery = await resultOf(id, deliveryId, () => showStatus(`Sending ${what}`));
    if (delivery?.status === "sent") showStatus(`Sent ${what}`);
    else if (delivery?.error != null) showAlert(`Could not send ${what}: ${plain(delivery.error)}`);
    else showStatus(`Still sending ${what}; its deliveries will show the result`);
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}

/** @returns The delivery after its first attempt; as it is if that takes too long. */
async function resultOf(
  channelId: string,
  deliveryId: string,
  onSlow: () => void,
): Promise<NotificationDelivery | undefined> {
  let delivery: NotificationDelivery | undefined;
  for (const [round, delay] of READ_AFTER_MS.entries()) {
    if (round === 1) onSlow();
    await new Promise((resolve) => setTimeout(resolve, delay));
    const { deliveries } = await api("GET /api/notifications/channels/{id}/deliveries", {
      path: { id: channelId },
      query: { limit: SEARCHED },
    });
    delivery = deliveries.find(({ id }) => id === deliveryId);
    if (delivery && delivery.attempts > 0) break;
  }
  return delivery;
}
