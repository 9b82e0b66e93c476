/** Notification channels: where people learn what happened. @module */

import { api } from "../../api/client.ts";
import type { ChannelKind, NotificationChannel, NotificationDelivery } from "../../api/types.ts";
import { type Column, NAME_COLUMN } from "../../components/columns.tsx";
import { DELIVERIES_SHOWN, DeliveriesDialog, LastDelivery } from "../../parts/deliveries.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { EventsText } from "../../parts/event_kinds.tsx";
import { useRead } from "../../components/reading.ts";
import { plain } from "../../base/text.ts";
import { hasRole } from "../../state/session.ts";
import { ChannelForm } from "./form.tsx";
import { replay, sendTest } from "./sending.ts";
import { ResourcePage } from "../../components/resource.tsx";

export default function Notifications() {
  const reading = useRead("GET /api/notifications/channels", {});
  const readingKinds = useRead("GET /api/notifications/kinds", {});
  const kinds = readingKinds.data.value?.kinds;
  const dialog = useDialog();
  return (
    <ResourcePage
      title="Notifications"
      name="Channels"
      noun="channel"
      reading={readingKinds.error.value ? readingKinds : reading}
      rows={kinds && reading.data.value?.channels}
      columns={columnsOf(kinds ?? [])}
      write={["admin", "notifications:write"]}
      form={kinds && ((props) => <ChannelForm {...props} kinds={kinds} />)}
      onChange={reading.reload}
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

const columnsOf = (kinds: readonly ChannelKind[]): readonly Column<NotificationChannel>[] => [
  NAME_COLUMN,
  {
    title: "Kind",
    cell: ({ kind }) => titleOf(kind, kinds),
    sort: ({ kind }) => titleOf(kind, kinds),
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

const titleOf = (kind: string, kinds: readonly ChannelKind[]): string =>
  kinds.find(({ id }) => id === kind)?.title ?? kind;

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
