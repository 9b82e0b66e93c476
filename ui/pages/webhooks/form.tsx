/**
 * The dialog of a webhook.
 *
 * @module
 */

import { api } from "../../api/client.ts";
import type { CreatedWebhook, NewWebhook, Webhook } from "../../api/types.ts";
import { EventKinds } from "../../components/event_kinds.tsx";
import { EditDialog, type FormValues, TextField } from "../../components/form.tsx";
import { HeadersField, headersOf } from "../../components/headers_field.tsx";

export function WebhookForm({ webhook, onClose, onSaved }: {
  /** Without one, a new webhook is created. */
  webhook: Webhook | undefined;
  onClose: () => void;
  /** Gets the new webhook with its secret. */
  onSaved: (created?: CreatedWebhook) => void;
}) {
  const save = async ({ name, url, events, headers }: FormValues) => {
    const body: NewWebhook = { name, url, events, headers: headersOf(headers) };
    if (webhook) {
      await api("PUT /api/webhooks/{id}", { path: { id: webhook.id }, body });
      onSaved();
    } else onSaved(await api("POST /api/webhooks", { body }));
    return name;
  };
  return (
    <EditDialog noun="webhook" name={webhook?.name} save={save} onClose={onClose} wide>
      <TextField label="Name" name="name" value={webhook?.name} required maxLength={100} />
      <TextField
        label="URL"
        name="url"
        type="url"
        value={webhook?.url}
        placeholder="https://hooks.example.com/longshore"
        required
        check={(text) =>
          text === "" || /^https?:\/\//i.test(text) ? undefined : "Must be an http or https URL"}
      />
      <EventKinds checked={webhook?.events ?? []} />
      <HeadersField name="headers" value={webhook?.headers} />
    </EditDialog>
  );
}
