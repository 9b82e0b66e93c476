/** Webhooks: HTTP endpoints that receive events. @module */

import { api } from "../../api/client.ts";
import type { CreatedWebhook, Webhook } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { enabledColumn, NAME_COLUMN } from "../../components/columns.tsx";
import { deleteConfirmed, deleteItem } from "../../components/deletion.ts";
import { LastDelivery } from "../../parts/deliveries.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { EventsText } from "../../parts/event_kinds.tsx";
import { Listing } from "../../components/listing.tsx";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { SecretDialog } from "../../components/secret_dialog.tsx";
import { Text } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { count, plain } from "../../base/text.ts";
import { hasRole } from "../../state/session.ts";
import { Deliveries } from "./deliveries.tsx";
import { WebhookForm } from "./form.tsx";
import { sendTest } from "./sending.ts";

export default function Webhooks() {
  const { data, error, reload } = useRead("GET /api/webhooks", {});
  const dialog = useDialog();
  const edit = (webhook: Webhook) => dialog.open(WebhookForm, { webhook, onSaved: reload });
  const create = () => dialog.open(WebhookForm, { webhook: undefined, onSaved: showSecret });
  const showSecret = ({ name, secret }: CreatedWebhook) => {
    reload();
    dialog.open(SecretDialog, {
      title: "Webhook created",
      label: "Signing secret",
      secret,
      children:
        `${plain(name)} signs each delivery with this secret (Standard Webhooks), so that ` +
        "the receiver can check where it comes from.",
    });
  };
  const showDeliveries = (webhook: Webhook) => dialog.open(Deliveries, { webhook }, reload);
  const mayWrite = hasRole("admin", "webhooks:write");
  return (
    <Page
      title="Webhooks"
      actions={mayWrite && <Button kind="primary" icon="plus" onClick={create}>New webhook</Button>}
    >
      <Listing
        name="Webhooks"
        columns={columns(reload)}
        rows={data.value?.webhooks}
        error={error.value}
        onRetry={reload}
        actions={(webhook) => {
          const deliveries = { name: "Deliveries", onSelect: () => showDeliveries(webhook) };
          if (!mayWrite) return [deliveries];
          return [
            { name: "Edit", onSelect: () => edit(webhook) },
            { name: "Test", onSelect: () => void sendTest(webhook).then(reload) },
            deliveries,
            deleteItem(() => remove(webhook), reload),
          ];
        }}
        defaultSort="name"
        hasTallRows
        empty={"No webhooks yet. A webhook sends the events that you choose, signed, to a URL of " +
          "another system."}
      />
      {dialog.shown}
    </Page>
  );
}

const columns = (onChange: () => void): readonly Column<Webhook>[] => [
  NAME_COLUMN,
  { title: "URL", cell: ({ url }) => <Text>{url}</Text>, sort: ({ url }) => url, wide: true },
  {
    title: "Events",
    cell: ({ events }) => <EventsText events={events} />,
    wide: true,
  },
  {
    title: "Last delivery",
    cell: ({ lastDelivery }) => (
      <LastDelivery
        at={lastDelivery?.at}
        error={lastDelivery?.error}
        status={lastDelivery?.status}
      />
    ),
    sort: ({ lastDelivery }) => lastDelivery?.at,
    width: "w-l",
  },
  enabledColumn(
    "webhooks:write",
    ({ id }, enabled) => api("PUT /api/webhooks/{id}/toggle", { path: { id }, body: { enabled } }),
    onChange,
  ),
];

async function remove({ id, name }: Webhook): Promise<boolean> {
  const deliveries = await api("GET /api/webhooks/{id}/deliveries", {
    path: { id },
    query: { limit: 1 },
  }).then(({ total }) => count(total, "delivery", "deliveries")).catch(() => "deliveries");
  const consequence = `The webhook ${plain(name)}, its signing secret and its ${deliveries} are ` +
    "deleted, including those that are not sent yet.";
  return await deleteConfirmed(
    name,
    consequence,
    () => api("DELETE /api/webhooks/{id}", { path: { id } }),
  );
}
