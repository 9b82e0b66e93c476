/** The newest deliveries of a webhook and what became of them. @module */

import type { Webhook, WebhookDelivery } from "../../api/types.ts";
import { DELIVERIES_SHOWN, DeliveriesDialog } from "../../parts/deliveries.tsx";
import { useRead } from "../../components/reading.ts";
import { hasRole } from "../../state/session.ts";
import { replay } from "./sending.ts";

export function Deliveries({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const reading = useRead("GET /api/webhooks/{id}/deliveries", {
    path: { id: webhook.id },
    query: { limit: DELIVERIES_SHOWN },
  });
  return (
    <DeliveriesDialog
      name={webhook.name}
      reading={reading}
      onClose={onClose}
      {...hasRole("admin", "webhooks:write") && {
        onReplay: (delivery: WebhookDelivery) =>
          void replay(webhook, delivery).then(reading.reload),
      }}
    />
  );
}
