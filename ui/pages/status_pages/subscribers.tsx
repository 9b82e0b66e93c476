/**
 * Who is notified about a status page.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { CreatedSubscriber, Subscriber } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { deleteConfirmed, deleteItem } from "../../components/deletion.ts";
import { FormDialog, type FormValues, SelectField, TextField } from "../../components/form.tsx";
import { Listing, Newest } from "../../components/listing.tsx";
import { useRead } from "../../components/reading.ts";
import { SecretDialog } from "../../components/secret_dialog.tsx";
import { State, Text } from "../../components/states.tsx";
import type { Column } from "../../components/table.tsx";
import { plain } from "../../components/text.ts";
import { Time } from "../../components/time.tsx";
import { hasRole } from "../../state/session.ts";
import { showStatus } from "../../state/toasts.ts";
import type { TabProps } from "./tab.ts";

const SHOWN_MAX = 500;

const addressOf = ({ email, webhook_url: url }: Subscriber) => email ?? url ?? "";

const COLUMNS: readonly Column<Subscriber>[] = [
  {
    title: "Address",
    cell: (subscriber) => (
      <span class="name-cell">
        <Text>{addressOf(subscriber)}</Text>
      </span>
    ),
  },
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
  const isNew = useSignal(false);
  const created = useSignal<CreatedSubscriber | undefined>(undefined);
  const create = hasRole("admin") && (
    <Button icon="plus" onClick={() => isNew.value = true}>New subscriber</Button>
  );
  return (
    <>
      {create && <div class="tab-actions">{create}</div>}
      <Listing
        name="Subscribers"
        columns={COLUMNS}
        rows={data.value?.subscribers}
        error={error.value}
        onRetry={reload}
        keyOf={({ id }) => id}
        nameOf={addressOf}
        {...hasRole("admin") && {
          actions: (
            subscriber: Subscriber,
          ) => [deleteItem(() => remove(pageId, subscriber), reload)],
        }}
        empty="No subscribers yet. Visitors subscribe on the page itself when mail is set up."
      />
      {data.value && <Newest shown={data.value.subscribers.length} total={data.value.total} />}
      {isNew.value && (
        <SubscriberForm
          pageId={pageId}
          onClose={() => isNew.value = false}
          onCreated={(subscriber) => {
            reload();
            if (subscriber.secret !== undefined) created.value = subscriber;
          }}
        />
      )}
      {created.value && !isNew.value && (
        <SecretDialog
          title="Subscriber created"
          label="Signing secret"
          secret={created.value.secret ?? ""}
          onClose={() => created.value = undefined}
        >
          The secret signs the notifications. The receiver confirms the subscription with the token
          {" "}
          <code class="wrap">{created.value.verify_token}</code>.
        </SecretDialog>
      )}
    </>
  );
}

async function remove(pageId: string, subscriber: Subscriber): Promise<boolean> {
  const name = addressOf(subscriber);
  const consequence = `${plain(name)} is not notified any more, also not of what is pending.`;
  return await deleteConfirmed(
    { name, consequence },
    () =>
      api("DELETE /api/ext/service-pro/status-pages/{pageId}/subscribers/{subId}", {
        path: { pageId, subId: subscriber.id },
      }),
  );
}

const KINDS = [{ value: "email", name: "Email" }, { value: "webhook_url", name: "Webhook" }];

function SubscriberForm({ pageId, onClose, onCreated }: {
  pageId: string;
  onClose: () => void;
  onCreated: (subscriber: CreatedSubscriber) => void;
}) {
  const kind = useSignal("email");
  const save = async ({ email, webhook_url }: FormValues) => {
    const saved = await api("POST /api/ext/service-pro/status-pages/{pageId}/subscribers", {
      path: { pageId },
      body: kind.value === "email" ? { email } : { webhook_url },
    });
    showStatus(`Created ${plain(addressOf(saved))}`);
    onCreated(saved);
  };
  return (
    <FormDialog title="New subscriber" submit="Create" onSubmit={save} onClose={onClose}>
      <SelectField
        label="Kind"
        name="kind"
        value={kind.value}
        options={KINDS}
        onChange={(value) => kind.value = value}
      />
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
            key="webhook"
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
