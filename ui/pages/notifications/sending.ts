/** Test messages to a channel, and messages that are sent again. @module */

import { api } from "../../api/client.ts";
import type { NotificationChannel, NotificationDelivery } from "../../api/types.ts";
import { DELIVERIES_SHOWN } from "../../parts/deliveries.tsx";
import { sendWithResult } from "../../parts/sending.ts";
import { plain } from "../../base/text.ts";

export const sendTest = ({ id, name }: NotificationChannel): Promise<void> =>
  sendWithResult(
    `a test message to ${plain(name)}`,
    async () =>
      (await api("POST /api/notifications/channels/{id}/test", { path: { id } })).deliveryId,
    () => readDeliveries(id),
  );

export const replay = (
  channel: NotificationChannel,
  { id }: NotificationDelivery,
): Promise<void> =>
  sendWithResult(
    `the message to ${plain(channel.name)} again`,
    async () =>
      (await api("POST /api/notifications/deliveries/{id}/replay", { path: { id } })).deliveryId,
    () => readDeliveries(channel.id),
  );

const readDeliveries = (id: string) =>
  api("GET /api/notifications/channels/{id}/deliveries", {
    path: { id },
    query: { limit: DELIVERIES_SHOWN },
  });
