/**
 * The dialog of a webhook.
 *
 * @module
 */

import type { CreatedWebhook, NewWebhook, Webhook } from "../../api/types.ts";
import { EventKinds } from "../../components/event_kinds.tsx";
import {
  EditDialog,
  fieldsOf,
  type FormValues,
  saveItem,
  type SaveProps,
} from "../../components/form.tsx";
import { HeadersField, headersOf } from "../../components/headers_field.tsx";

export function WebhookForm({ webhook, onClose, onSaved }: SaveProps<CreatedWebhook> & {
  /** Without one, a new webhook is created. */
  webhook: Webhook | undefined;
}) {
  const { text } = fieldsOf(webhook);
  const save = async ({ name, url, events, headers }: FormValues) => {
    const body: NewWebhook = { name, url, events, headers: headersOf(headers) };
    onSaved(await saveItem("/api/webhooks", webhook, body));
    return name;
  };
  return (
    <EditDialog noun="webhook" name={webhook?.name} save={save} onClose={onClose} wide>
      {text("Name", "name", { required: true, maxLength: 100 })}
      {text("URL", "url", {
        type: "url",
        placeholder: "https://hooks.example.com/longshore",
        required: true,
        check: (text) =>
          text === "" || /^https?:\/\//i.test(text) ? undefined : "Must be an http or https URL",
      })}
      <EventKinds checked={webhook?.events ?? []} />
      <HeadersField name="headers" value={webhook?.headers} />
    </EditDialog>
  );
}
