/** Subscribers of a status page. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../../api/client.ts";
import type { CreatedSubscriber, Subscriber } from "../../../api/types.ts";
import { type Column, Name } from "../../../components/columns.tsx";
import { useDialog } from "../../../components/dialog.tsx";
import { SelectField, TextField } from "../../../components/fields.tsx";
import { EditDialog, type SaveProps } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";
import { useRead } from "../../../components/reading.ts";
import { SecretDialog } from "../../../components/secret_dialog.tsx";
import { State } from "../../../components/states.tsx";
import { plain } from "../../../base/text.ts";
import { Time } from "../../../components/time.tsx";
import { ROOT } from "../../../state/root.ts";
import type { TabProps } from "./tab.ts";
import { ResourceTab } from "../../../components/resource.tsx";

const SHOWN_MAX = 500;

const addressOf = ({ email, webhook_url: url }: Subscriber) => email ?? url ?? "";

const COLUMNS: readonly Column<Subscriber>[] = [
  { title: "Address", cell: (subscriber) => <Name>{addressOf(subscriber)}</Name> },
  {
    title: "Kind",
    cell: ({ email }) => email === undefined ? "Webhook" : "Email",
    width: "w-s",
    wide: true,
  },
  {
    title: "Status",
    cell: ({ status }) => <State state={status} tone={status === "verified" ? "good" : "busy"} />,
    width: "w-m",
  },
  { title: "Created", cell: ({ created_at: at }) => <Time at={at} />, width: "w-s" },
];

export function Subscribers({ page }: TabProps) {
  const pageId = page.id;
  const reading = useRead("GET /api/ext/service-pro/status-pages/{pageId}/subscribers", {
    path: { pageId },
    query: { limit: SHOWN_MAX },
  });
  const dialog = useDialog();
  const onCreated = (created: CreatedSubscriber) => {
    if (created.secret === undefined) return;
    const confirmation = new URL(
      `api/ext/service-pro/status-pages/${pageId}/subscribers/verify/${created.verify_token}`,
      ROOT,
    ).href;
    dialog.open(SecretDialog, {
      title: "Subscriber created",
      label: "Signing secret",
      secret: created.secret,
      children: (
        <>
          Notifications begin when this address is opened:{" "}
          <a class="wrap" href={confirmation} target="_blank" rel="noopener">{confirmation}</a>. The
          secret signs them.
        </>
      ),
    });
  };
  return (
    <ResourceTab
      title="Subscribers"
      noun="subscriber"
      reading={reading}
      rows={reading.data.value?.subscribers}
      total={reading.data.value?.total}
      columns={COLUMNS}
      nameOf={addressOf}
      write={["admin", "status_pages:write"]}
      form={(props: SaveProps<CreatedSubscriber>) => <SubscriberForm {...props} pageId={pageId} />}
      onCreated={onCreated}
      actionsFor={["admin", "status_pages:write"]}
      actions={(_, { remove }) => remove}
      deletion={{
        consequence: (subscriber) =>
          `${plain(addressOf(subscriber))} is not notified any more, also not of what is pending.`,
        work: ({ id }) =>
          api("DELETE /api/ext/service-pro/status-pages/{pageId}/subscribers/{subId}", {
            path: { pageId, subId: id },
          }),
      }}
      dialog={dialog}
      empty="No subscribers yet. Visitors subscribe on the page itself when mail is set up."
    />
  );
}

const KINDS = [{ value: "email", name: "Email" }, { value: "webhook_url", name: "Webhook" }];

function SubscriberForm({ pageId, ...dialog }: SaveProps<CreatedSubscriber> & {
  pageId: string;
}) {
  const kind = useSignal("email");
  const save = ({ kind: _, ...address }: FormValues) =>
    api("POST /api/ext/service-pro/status-pages/{pageId}/subscribers", {
      path: { pageId },
      body: address,
    });
  return (
    <EditDialog noun="subscriber" item={undefined} nameOf={addressOf} save={save} {...dialog}>
      <SelectField label="Kind" name="kind" choice={kind} options={KINDS} />
      {kind.value === "email"
        ? (
          <TextField
            key="email"
            label="Email"
            name="email"
            type="email"
            hint="Gets a link that confirms the subscription"
            required
            maxLength={254}
          />
        )
        : (
          <TextField
            key="url"
            label="URL"
            name="webhook_url"
            type="url"
            required
            maxLength={2_048}
          />
        )}
    </EditDialog>
  );
}
