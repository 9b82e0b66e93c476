/**
 * The newest messages of a chat channel and what became of them.
 *
 * @module
 */

import type { ChatChannel, ChatMessage } from "../../api/types.ts";
import { ListingDialog } from "../../components/listing.tsx";
import { useRead } from "../../components/reading.ts";
import { State, Text } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { plain } from "../../components/text.ts";
import { Time } from "../../components/time.tsx";

const SHOWN_MAX = 100;

const TONES = { queued: "busy", sent: "good", failed: "bad" } as const;

const COLUMNS: readonly Column<ChatMessage>[] = [
  { title: "Time", cell: ({ created_at: at }) => <Time at={at} />, width: "w-s" },
  { title: "Event", cell: ({ event_type: event }) => <Text>{event}</Text>, width: "w-m" },
  { title: "Text", cell: ({ text }) => <Text>{text}</Text>, wide: true },
  {
    title: "Status",
    cell: ({ status, error, attempts }) => (
      <span title={error === null ? undefined : `Attempt ${attempts}: ${plain(error)}`}>
        <State state={status} tone={TONES[status]} />
      </span>
    ),
    width: "w-s",
  },
  { title: "Error", cell: ({ error }) => <Text>{error}</Text>, wide: true },
];

export function Messages({ channel, onClose }: { channel: ChatChannel; onClose: () => void }) {
  const { data, error, reload } = useRead(
    "GET /api/ext/service-pro/chatops/channels/{id}/messages",
    { path: { id: channel.id }, query: { limit: SHOWN_MAX } },
  );
  return (
    <ListingDialog
      title={`Messages of ${plain(channel.name)}`}
      name="Messages"
      columns={COLUMNS}
      rows={data.value?.messages}
      total={data.value?.total}
      error={error.value}
      onRetry={reload}
      empty="No messages in the last 7 days."
      onClose={onClose}
    />
  );
}
