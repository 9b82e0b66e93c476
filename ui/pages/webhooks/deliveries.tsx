/**
 * The newest deliveries of a webhook and what became of them.
 *
 * @module
 */

import { api } from "../../api/client.ts";
import type { Webhook } from "../../api/types.ts";
import { DELIVERIES_SHOWN, DeliveriesDialog } from "../../components/deliveries.tsx";
import { useRead } from "../../components/reading.ts";
import { plain } from "../../components/text.ts";
import { hasRole } from "../../state/session.ts";
import { withResult } from "../../state/toasts.ts";

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
        onReplay: ({ id }: { id: string }) => void replay(webhook, id).then(reading.reload),
      }}
    />
  );
}

async function replay({ name }: Webhook, id: string): Promise<void> {
  await withResult(
    `Queued the event for ${plain(name)} again`,
    () => api("POST /api/webhooks/deliveries/{id}/replay", { path: { id } }),
  );
}
