/** The newest messages of a chat channel and what became of them. @module */

import type { ChatChannel, ChatMessage } from "../../../api/types.ts";
import { ListingDialog } from "../../../components/listing.tsx";
import { useRead } from "../../../components/reading.ts";
import { State } from "../../../components/states.tsx";
import type { Column } from "../../../components/columns.tsx";
import { count, plain, plainLines } from "../../../base/text.ts";
import { Time } from "../../../components/time.tsx";

const SHOWN_MAX = 100;

const TONES = { queued: "busy", sent: "good", failed: "bad" } as const;

const COLUMNS: readonly Column<ChatMessage>[] = [
  {
    title: "Message",
    cell: ({ event_type: event, text, created_at: at }) => (
      <>
        <p title={plainLines(text)}>{plain(text.split("\n")[0]!)}</p>
        <p class="hint inline">
          {plain(event)}, <Time at={at} />
        </p>
      </>
    ),
  },
  {
    title: "Status",
    cell: ({ status, error, attempts }) => (
      <div title={count(attempts, "attempt")}>
        <State state={status} tone={TONES[status]} />
        {error !== null && <p class="problem">{plain(error)}</p>}
      </div>
    ),
  },
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
      reading={{ error, reload }}
      empty="No messages in the last 7 days."
      onClose={onClose}
    />
  );
}
