/** Chat: channels that get messages about events. @module */

import { api } from "../../../api/client.ts";
import type { ChatChannel } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { enabledColumn, NAME_COLUMN, timeColumn } from "../../../components/columns.tsx";
import { deleteConfirmed, deleteItem } from "../../../components/deletion.ts";
import { useDialog } from "../../../components/dialog.tsx";
import { EventsText } from "../../../parts/event_kinds.tsx";
import { Listing } from "../../../components/listing.tsx";
import type { MenuItem } from "../../../components/menu.tsx";
import { Page } from "../../../components/page.tsx";
import { useRead } from "../../../components/reading.ts";
import type { Column } from "../../../components/table.tsx";
import { count, plain } from "../../../base/text.ts";
import { hasRole } from "../../../state/session.ts";
import { withResult } from "../../../state/toasts.ts";
import { ChannelForm, EventForm, PLATFORMS } from "./forms.tsx";
import { Messages } from "./messages.tsx";

const columns = (onChange: () => void): readonly Column<ChatChannel>[] => [
  NAME_COLUMN,
  {
    title: "Platform",
    cell: ({ platform }) => PLATFORMS[platform],
    sort: ({ platform }) => platform,
    width: "w-m",
  },
  { title: "Events", cell: ({ events }) => <EventsText events={events} />, wide: true },
  timeColumn("Created", ({ created_at: at }) => at, { width: "w-s", wide: true }),
  enabledColumn(
    "chatops:write",
    ({ id }, enabled) =>
      api("PUT /api/ext/service-pro/chatops/channels/{id}", { path: { id }, body: { enabled } }),
    onChange,
  ),
];

export default function Chat() {
  const { data, error, reload } = useRead("GET /api/ext/service-pro/chatops/channels", {});
  const dialog = useDialog();
  const edit = (channel?: ChatChannel) => dialog.open(ChannelForm, { channel, onSaved: reload });
  const send = () => dialog.open(EventForm, {});
  const channels = data.value?.channels;
  const create = hasRole("admin", "chatops:write") && (
    <>
      {channels && channels.length > 0 && <Button icon="chat" onClick={send}>Send event</Button>}
      <Button kind="primary" icon="plus" onClick={() => edit()}>New channel</Button>
    </>
  );
  return (
    <Page title="Chat" actions={create}>
      <Listing
        name="Channels"
        columns={columns(reload)}
        rows={channels}
        error={error.value}
        onRetry={reload}
        actions={(channel) =>
          menuOf(channel, {
            onChange: reload,
            onEdit: () => edit(channel),
            onMessages: () => dialog.open(Messages, { channel }),
          })}
        defaultSort="name"
        empty={"No channels yet. A channel sends a message about the events that you choose to " +
          "Telegram, Slack or a compatible team chat."}
      />
      {dialog.shown}
    </Page>
  );
}

function menuOf(
  channel: ChatChannel,
  { onChange, onEdit, onMessages }: Record<"onChange" | "onEdit" | "onMessages", () => void>,
): MenuItem[] {
  const messages = { name: "Messages", onSelect: onMessages };
  if (!hasRole("admin", "chatops:write")) return [messages];
  return [
    { name: "Edit", onSelect: onEdit },
    {
      name: "Test",
      onSelect: () => void test(channel).then((isDone) => isDone && onMessages()),
    },
    messages,
    deleteItem(() => remove(channel), onChange),
  ];
}

const test = ({ id, name }: ChatChannel): Promise<boolean> =>
  withResult(
    `Queued a test message for ${plain(name)}`,
    () => api("POST /api/ext/service-pro/chatops/channels/{id}/test", { path: { id } }),
  );

async function remove({ id, name }: ChatChannel): Promise<boolean> {
  const path = { id };
  const messages = await api("GET /api/ext/service-pro/chatops/channels/{id}/messages", {
    path,
    query: { limit: 1 },
  }).then(({ total }) => count(total, "message")).catch(() => "messages");
  const consequence = `The channel ${plain(name)} and its ${messages} are deleted, including ` +
    "those that are not sent yet.";
  return await deleteConfirmed(
    name,
    consequence,
    () => api("DELETE /api/ext/service-pro/chatops/channels/{id}", { path }),
  );
}
