/** Notification channels: where people learn what happened. @module */

import { api } from "../../api/client.ts";
import type { NotificationChannel, NotificationDelivery } from "../../api/types.ts";
import { type Column, NAME_COLUMN } from "../../components/columns.tsx";
import { DELIVERIES_SHOWN, DeliveriesDialog, LastDelivery } from "../../parts/deliveries.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { EventsText } from "../../parts/event_kinds.tsx";
import { useRead } from "../../components/reading.ts";
import { plain } from "../../base/text.ts";
import { hasRole } from "../../state/session.ts";
import { ChannelForm } from "./form.tsx";
import { KINDS } from "./kinds.ts";
import { replay, sendTest } from "./sending.ts";
import { ResourcePage } from "../../components/resource.tsx";

export default function Notifications() {
  const reading = useRead("GET /api/notifications/channels", {});
  const dialog = useDialog();
  return (
    <ResourcePage
      title="Notifications"
      name="Channels"
      noun="channel"
      reading={reading}
      rows={reading.data.value?.channels}
      columns={COLUMNS}
      write={["admin", "notifications:write"]}
      form={ChannelForm}
      enable={({ id }, enabled) =>
        api("PUT /api/notifications/channels/{id}/toggle", { path: { id }, body: { enabled } })}
      actions={(channel, { edit, remove, mayWrite }) => [
        ...edit,
        ...mayWrite
          ? [{ name: "Test", onSelect: () => void sendTest(channel).then(reading.reload) }]
          : [],
        {
          name: "Deliveries",
          onSelect: () => dialog.open(Deliveries, { channel }, reading.reload),
        },
        ...remove,
      ]}
      deletion={{
        consequence: ({ name }) =>
          `The channel ${plain(name)}, its secrets and its deliveries are deleted, including ` +
          "messages that are not sent yet.",
        work: ({ id }) => api("DELETE /api/notifications/channels/{id}", { path: { id } }),
      }}
      dialog={dialog}
      defaultSort="name"
      hasTallRows
      empty={"No channels yet. A channel tells people what is wrong, and when it is over: by " +
        "mail, in a chat or on a phone. Create one and send it a test message."}
    />
  );
}

const COLUMNS: readonly Column<NotificationChannel>[] = [
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
