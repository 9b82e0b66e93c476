/** Test events to a webhook, and events that are sent again. @module */

import { api } from "../../api/client.ts";
import type { Webhook, WebhookDelivery } from "../../api/types.ts";
import { DELIVERIES_SHOWN } from "../../parts/deliveries.tsx";
import { sendWithResult } from "../../parts/sending.ts";
import { plain } from "../../base/text.ts";

export const sendTest = ({ id, name }: Webhook): Promise<void> =>
  sendWithResult(
    `a test event to ${plain(name)}`,
    async () => (await api("POST /api/webhooks/{id}/test", { path: { id } })).delivery_id,
    () => readDeliveries(id),
  );

export const replay = (webhook: Webhook, { id }: WebhookDelivery): Promise<void> =>
  sendWithResult(
    `the event to ${plain(webhook.name)} again`,
    async () =>
      (await api("POST /api/webhooks/deliveries/{id}/replay", { path: { id } })).delivery_id,
    () => readDeliveries(webhook.id),
  );

const readDeliveries = (id: string) =>
  api("GET /api/webhooks/{id}/deliveries", { path: { id }, query: { limit: DELIVERIES_SHOWN } });
