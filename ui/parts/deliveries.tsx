/**
 * The newest deliveries of a webhook or a notification channel, and the last one in a table.
 *
 * @module
 */

import { IconButton } from "../components/button.tsx";
import { ListingDialog } from "../components/listing.tsx";
import type { Reading } from "../components/reading.ts";
import { Reason, State } from "../components/states.tsx";
import type { Column } from "../components/columns.tsx";
import { count, plain } from "../base/text.ts";
import { Time } from "../components/time.tsx";

export interface Delivery {
  id: string;
  event: string;
  /** Of a message for people. */
  title?: string;
  status: "queued" | "sent" | "failed";
  attempts: number;
  responseStatus: number | null;
  error: string | null;
  createdAt: string;
  nextAttemptAt: string | null;
}

/** Limit of shown deliveries; the table renders all of them. */
export const DELIVERIES_SHOWN = 50;

const TONES = { queued: "busy", sent: "good", failed: "bad" } as const;

export function DeliveriesDialog<Row extends Delivery>({ name, reading, onClose, onReplay }: {
  /** Of the receiver. */
  name: string;
  reading: Reading<{ deliveries: Row[]; total: number }>;
  onClose: () => void;
  /** Sends one again. */
  onReplay?: (delivery: Row) => void;
}) {
  const { data, error, reload } = reading;
  const page = data.value;
  return (
    <ListingDialog
      title={`Deliveries of ${plain(name)}`}
      name="Deliveries"
      columns={onReplay ? [...COLUMNS, replayColumn(onReplay)] : COLUMNS}
      rows={page?.deliveries}
      total={page?.total}
      reading={{ error, reload }}
      empty="No deliveries in the last 7 days."
      onClose={onClose}
    />
  );
}

const COLUMNS: readonly Column<Delivery>[] = [
  {
    title: "Event",
    cell: ({ event, title, createdAt }) => (
      <>
        <p title={event}>{plain(title ?? event)}</p>
        <p class="hint">
          <Time at={createdAt} />
        </p>
      </>
    ),
  },
  { title: "Status", cell: (delivery) => <Status {...delivery} /> },
];

/** A state and, below it, what went wrong: the reason must not need a pointer that hovers. */
function Status({ status, attempts, responseStatus, error, nextAttemptAt }: Delivery) {
  const response = error !== null || responseStatus === null ? "" : ` (${responseStatus})`;
  return (
    <div title={count(attempts, "attempt")}>
      <State state={status + response} tone={TONES[status]} />
      <Reason>{error}</Reason>
      {error !== null && nextAttemptAt !== null && (
        <p class="hint inline">
          Next attempt <Time at={nextAttemptAt} />
        </p>
      )}
    </div>
  );
}

const replayColumn = <Row extends Delivery>(onReplay: (delivery: Row) => void): Column<Row> => ({
  title: "Action",
  cell: (delivery) =>
    delivery.status !== "queued" && (
      <IconButton
        name="Replay"
        icon="restart"
        onClick={() => onReplay(delivery)}
      />
    ),
  width: "w-xs",
});

/** When something was last sent, and whether it arrived; a dash before the first attempt. */
export function LastDelivery({ at, error, status = null }: {
  at: string | null | undefined;
  error: string | null | undefined;
  /** Of the response. */
  status?: number | null | undefined;
}) {
  if (at == null) return <span class="muted">–</span>;
  const isSent = error == null;
  const result = isSent ? "delivered" : status === null ? "failed" : `failed (${status})`;
  return (
    <>
      <span class="outcome">
        <State state={result} tone={isSent ? "good" : "bad"} />
        <Time at={at} />
      </span>
      <Reason>{error}</Reason>
    </>
  );
}
