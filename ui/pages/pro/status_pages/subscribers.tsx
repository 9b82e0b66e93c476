/** Subscribers of a status page. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../../api/client.ts";
import type { CreatedSubscriber, Subscriber } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { Name } from "../../../components/columns.tsx";
import { deleteConfirmed, deleteItem } from "../../../components/deletion.ts";
import { useDialog } from "../../../components/dialog.tsx";
import { SelectField, TextField } from "../../../components/fields.tsx";
import { FormDialog, type SaveProps } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";
import { Listing } from "../../../components/listing.tsx";
import { useRead } from "../../../components/reading.ts";
import { SecretDialog } from "../../../components/secret_dialog.tsx";
import { State } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { plain } from "../../../base/text.ts";
import { Time } from "../../../components/time.tsx";
import { ROOT } from "../../../state/root.ts";
import { hasRole } from "../../../state/session.ts";
import { showStatus } from "../../../state/toasts.ts";
import type { TabProps } from "./tab.ts";

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
  const { data, error, reload } = useRead(
    "GET /api/ext/service-pro/status-pages/{pageId}/subscribers",
    { path: { pageId }, query: { limit: SHOWN_MAX } },
  );
  const dialog = useDialog();
  const create = () => dialog.open(SubscriberForm, { pageId, onSaved });
  const onSaved = (created: CreatedSubscriber) => {
    reload();
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
    <>
      {hasRole("admin", "status_pages:write") && (
        <div class="tab-actions">
          <Button icon="plus" onClick={create}>New subscriber</Button>
        </div>
      )}
      <Listing
        name="Subscribers"
        columns={COLUMNS}
        rows={data.value?.subscribers}
        total={data.value?.total}
        error={error.value}
        onRetry={reload}
        nameOf={addressOf}
        actionsFor={["admin", "status_pages:write"]}
        actions={(subscriber) => [deleteItem(() => remove(pageId, subscriber), reload)]}
        empty="No subscribers yet. Visitors subscribe on the page itself when mail is set up."
      />
      {dialog.shown}
    </>
  );
}

async function remove(pageId: string, subscriber: Subscriber): Promise<boolean> {
  const name = addressOf(subscriber);
  const consequence = `${plain(name)} is not notified any more, also not of what is pending.`;
  return await deleteConfirmed(
    name,
    consequence,
    () =>
      api("DELETE /api/ext/service-pro/status-pages/{pageId}/subscribers/{subId}", {
        path: { pageId, subId: subscriber.id },
      }),
  );
}

const KINDS = [{ value: "email", name: "Email" }, { value: "webhook_url", name: "Webhook" }];

function SubscriberForm({ pageId, onClose, onSaved }: SaveProps<CreatedSubscriber> & {
  pageId: string;
}) {
  const kind = useSignal("email");
  const save = async ({ kind: _, ...address }: FormValues) => {
    const saved = await api("POST /api/ext/service-pro/status-pages/{pageId}/subscribers", {
      path: { pageId },
      body: address,
    });
    showStatus(`Created ${plain(addressOf(saved))}`);
    onSaved(saved);
  };
  return (
    <FormDialog title="New subscriber" submit="Create" onSubmit={save} onClose={onClose}>
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
    </FormDialog>
  );
}
