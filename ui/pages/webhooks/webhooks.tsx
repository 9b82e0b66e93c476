/** Webhooks: HTTP endpoints that receive events. @module */

import { api } from "../../api/client.ts";
import type { CreatedWebhook, Webhook } from "../../api/types.ts";
import { type Column, NAME_COLUMN, textColumn } from "../../components/columns.tsx";
import { LastDelivery } from "../../parts/deliveries.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { EventsText } from "../../parts/event_kinds.tsx";
import { useRead } from "../../components/reading.ts";
import { SecretDialog } from "../../components/secret_dialog.tsx";
import { count, plain } from "../../base/text.ts";
import { Deliveries } from "./deliveries.tsx";
import { WebhookForm } from "./form.tsx";
import { sendTest } from "./sending.ts";
import { ResourcePage } from "../../components/resource.tsx";

export default function Webhooks() {
  const reading = useRead("GET /api/webhooks", {});
  const dialog = useDialog();
  const showSecret = ({ name, secret }: CreatedWebhook) =>
    dialog.open(SecretDialog, {
      title: "Webhook created",
      label: "Signing secret",
      secret,
      children:
        `${plain(name)} signs each delivery with this secret (Standard Webhooks), so that ` +
        "the receiver can check where it comes from.",
    });
  return (
    <ResourcePage
      title="Webhooks"
      noun="webhook"
      reading={reading}
      rows={reading.data.value?.webhooks}
      columns={COLUMNS}
      write={["admin", "webhooks:write"]}
      form={WebhookForm}
      onCreated={showSecret}
      enable={({ id }, enabled) =>
        api("PUT /api/webhooks/{id}/toggle", { path: { id }, body: { enabled } })}
      actions={(webhook, { edit, remove, mayWrite }) => [
        ...edit,
        ...mayWrite
          ? [{ name: "Test", onSelect: () => void sendTest(webhook).then(reading.reload) }]
          : [],
        {
          name: "Deliveries",
          onSelect: () => dialog.open(Deliveries, { webhook }, reading.reload),
        },
        ...remove,
      ]}
      deletion={{
        consequence: describeLoss,
        work: ({ id }) => api("DELETE /api/webhooks/{id}", { path: { id } }),
      }}
      dialog={dialog}
      defaultSort="name"
      hasTallRows
      empty={"No webhooks yet. A webhook sends the events that you choose, signed, to a URL of " +
        "another system."}
    />
  );
}

const COLUMNS: readonly Column<Webhook>[] = [
  NAME_COLUMN,
  textColumn("URL", ({ url }) => url, { wide: true }),
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
];

async function describeLoss({ id, name }: Webhook): Promise<string> {
  const deliveries = await api("GET /api/webhooks/{id}/deliveries", {
    path: { id },
    query: { limit: 1 },
  }).then(({ total }) => count(total, "delivery", "deliveries")).catch(() => "deliveries");
  return `The webhook ${plain(name)}, its signing secret and its ${deliveries} are deleted, ` +
    "including those that are not sent yet.";
}
