/**
 * The newest deliveries of a webhook and what became of them.
 *
 * @module
 */

import type { Webhook, WebhookDelivery } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Listing, Newest } from "../../components/listing.tsx";
import { useRead } from "../../components/reading.ts";
import { State, Text } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { plain } from "../../components/text.ts";
import { Time } from "../../components/time.tsx";

const SHOWN_MAX = 100;

const TONES = { queued: "busy", sent: "good", failed: "bad" } as const;

const COLUMNS: readonly Column<WebhookDelivery>[] = [
  { title: "Time", cell: ({ createdAt }) => <Time at={createdAt} />, width: "w-s" },
  { title: "Event", cell: ({ event }) => <Text>{event}</Text> },
  {
    title: "Status",
    cell: ({ status, attempts }) => (
      <span title={`${attempts} ${attempts === 1 ? "attempt" : "attempts"}`}>
        <State state={status} tone={TONES[status]} />
      </span>
    ),
    width: "w-s",
  },
  {
    title: "Response",
    cell: ({ responseStatus, error }) => <Text>{error ?? String(responseStatus ?? "–")}</Text>,
    wide: true,
  },
  {
    title: "Next attempt",
    cell: ({ nextAttemptAt }) => <Time at={nextAttemptAt} />,
    width: "w-m",
    wide: true,
  },
];

export function Deliveries({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const { data, error, reload } = useRead("GET /api/webhooks/{id}/deliveries", {
    path: { id: webhook.id },
    query: { limit: SHOWN_MAX },
  });
  const page = data.value;
  return (
    <Dialog title={`Deliveries of ${plain(webhook.name)}`} wide onClose={onClose}>
      <Listing
        name="Deliveries"
        columns={COLUMNS}
        rows={page?.deliveries}
        error={error.value}
        onRetry={reload}
        keyOf={({ id }) => id}
        empty="No deliveries in the last 7 days."
      />
      {page && <Newest shown={page.deliveries.length} total={page.total} />}
      <div class="actions">
        <Button icon="restart" onClick={reload}>Refresh</Button>
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
