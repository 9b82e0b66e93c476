/** Notification channels: where people learn what happened. @module */

import { api } from "../../api/client.ts";
import type { NotificationChannel, NotificationDelivery } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { enabledColumn, NAME_COLUMN } from "../../components/columns.tsx";
import { deleteConfirmed, deleteItem } from "../../components/deletion.ts";
import { DELIVERIES_SHOWN, DeliveriesDialog, LastDelivery } from "../../parts/deliveries.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { EventsText } from "../../parts/event_kinds.tsx";
import { Listing } from "../../components/listing.tsx";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import type { Column } from "../../components/table.tsx";
import { plain } from "../../base/text.ts";
import { hasRole } from "../../state/session.ts";
import { ChannelForm } from "./form.tsx";
import { KINDS } from "./kinds.ts";
import { replay, sendTest } from "./sending.ts";

export default function Notifications() {
  const { data, error, reload } = useRead("GET /api/notifications/channels", {});
  const dialog = useDialog();
  const edit = (channel?: NotificationChannel) =>
    dialog.open(ChannelForm, { channel, onSaved: reload });
  const showDeliveries = (channel: NotificationChannel) =>
    dialog.open(Deliveries, { channel }, reload);
  const mayWrite = hasRole("admin", "notifications:write");
  return (
    <Page
      title="Notifications"
      actions={mayWrite && (
        <Button kind="primary" icon="plus" onClick={() => edit()}>New channel</Button>
      )}
    >
      <Listing
        name="Channels"
        columns={columns(reload)}
        rows={data.value?.channels}
        error={error.value}
        onRetry={reload}
        actions={(channel) => {
          const deliveries = { name: "Deliveries", onSelect: () => showDeliveries(channel) };
          if (!mayWrite) return [deliveries];
          return [
            { name: "Edit", onSelect: () => edit(channel) },
            { name: "Test", onSelect: () => void sendTest(channel).then(reload) },
            deliveries,
            deleteItem(() => remove(channel), reload),
          ];
        }}
        defaultSort="name"
        hasTallRows
        empty={"No channels yet. A channel tells people what is wrong, and when it is over: by " +
          "mail, in a chat or on a phone. Create one and send it a test message."}
      />
      {dialog.shown}
    </Page>
  );
}

const columns = (onChange: () => void): readonly Column<NotificationChannel>[] => [
  NAME_COLUMN,
  {
    title: "Kind",
    cell: ({ kind }) => KINDS[kind].name,
    sort: ({ kind }) => KINDS[kind].name,
    width: "w-m",
    wide: true,
  },
  {
    title: "Events",
    cell: ({ events }) => <EventsText events={events} />,
    wide: true,
  },
  {
    title: "Last delivery",
    cell: ({ lastDeliveryAt, lastError }) => <LastDelivery at={lastDeliveryAt} error={lastError} />,
    sort: ({ lastDeliveryAt }) => lastDeliveryAt,
    width: "w-l",
  },
  enabledColumn(
    "notifications:write",
    ({ id }, enabled) =>
      api("PUT /api/notifications/channels/{id}/toggle", { path: { id }, body: { enabled } }),
    onChange,
  ),
];

function Deliveries({ channel, onClose }: { channel: NotificationChannel; onClose: () => void }) {
  const reading = useRead("GET /api/notifications/channels/{id}/deliveries", {
    path: { id: channel.id },
    query: { limit: DELIVERIES_SHOWN },
  });
  return (
    <DeliveriesDialog
      name={channel.name}
      reading={reading}
      onClose={onClose}
      {...hasRole("admin", "notifications:write") && {
        onReplay: (delivery: NotificationDelivery) =>
          void replay(channel, delivery).then(reading.reload),
      }}
    />
  );
}

const remove = ({ id, name }: NotificationChannel): Promise<boolean> =>
  deleteConfirmed(
    name,
    `The channel ${plain(name)}, its secrets and its deliveries are deleted, ` +
      "including messages that are not sent yet.",
    () => api("DELETE /api/notifications/channels/{id}", { path: { id } }),
  );
