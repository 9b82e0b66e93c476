/** Chat: channels that get messages about events. @module */

import { api } from "../../../api/client.ts";
import type { ChatChannel } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { type Column, NAME_COLUMN, timeColumn } from "../../../components/columns.tsx";
import { useDialog } from "../../../components/dialog.tsx";
import { EventsText } from "../../../parts/event_kinds.tsx";
import { useRead } from "../../../components/reading.ts";
import { count, plain } from "../../../base/text.ts";
import { hasRole } from "../../../state/session.ts";
import { withResult } from "../../../state/toasts.ts";
import { ChannelForm, EventForm, PLATFORMS } from "./forms.tsx";
import { Messages } from "./messages.tsx";
import { ResourcePage } from "../../../components/resource.tsx";

const COLUMNS: readonly Column<ChatChannel>[] = [
  NAME_COLUMN,
  {
    title: "Platform",
    cell: ({ platform }) => PLATFORMS[platform],
    sort: ({ platform }) => platform,
    width: "w-m",
  },
  { title: "Events", cell: ({ events }) => <EventsText events={events} />, wide: true },
  timeColumn("Created", ({ created_at: at }) => at, { width: "w-s", wide: true }),
];

export default function Chat() {
  const reading = useRead("GET /api/ext/service-pro/chatops/channels", {});
  const dialog = useDialog();
  const channels = reading.data.value?.channels;
  const send = () => dialog.open(EventForm, {});
  const showMessages = (channel: ChatChannel) => dialog.open(Messages, { channel });
  return (
    <ResourcePage
      title="Chat"
      name="Channels"
      noun="channel"
      reading={reading}
      rows={channels}
      columns={COLUMNS}
      write={["admin", "chatops:write"]}
      form={ChannelForm}
      enable={({ id }, enabled) =>
        api("PUT /api/ext/service-pro/chatops/channels/{id}", { path: { id }, body: { enabled } })}
      actions={(channel, { edit, remove, mayWrite }) => [
        ...edit,
        ...mayWrite
          ? [{
            name: "Test",
            onSelect: () => void test(channel).then((isDone) => isDone && showMessages(channel)),
          }]
          : [],
        { name: "Messages", onSelect: () => showMessages(channel) },
        ...remove,
      ]}
      deletion={{
        consequence: describeLoss,
        work: ({ id }) =>
          api("DELETE /api/ext/service-pro/chatops/channels/{id}", { path: { id } }),
      }}
      dialog={dialog}
      defaultSort="name"
      empty={"No channels yet. A channel sends a message about the events that you choose to " +
        "Telegram, Slack or a compatible team chat. It is listed in Notifications, too."}
      buttons={hasRole("admin", "chatops:write") && channels && channels.length > 0 && (
        <Button icon="chat" onClick={send}>Send event</Button>
      )}
    />
  );
}

const test = ({ id, name }: ChatChannel): Promise<boolean> =>
  withResult(
    `Queued a test message for ${plain(name)}`,
    () => api("POST /api/ext/service-pro/chatops/channels/{id}/test", { path: { id } }),
  );

async function describeLoss({ id, name }: ChatChannel): Promise<string> {
  const messages = await api("GET /api/ext/service-pro/chatops/channels/{id}/messages", {
    path: { id },
    query: { limit: 1 },
  }).then(({ total }) => count(total, "message")).catch(() => "messages");
  return `The channel ${plain(name)} and its ${messages} are deleted, including those that are ` +
    "not sent yet.";
}
