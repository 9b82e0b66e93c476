/** The dialog of a webhook. @module */

import type { CreatedWebhook, NewWebhook, Webhook } from "../../api/types.ts";
import { EventKinds } from "../../parts/event_kinds.tsx";
import { fieldsOf } from "../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { HeadersField, headersOf } from "../../parts/headers_field.tsx";

export function WebhookForm({ item: webhook, ...dialog }: EditProps<Webhook, CreatedWebhook>) {
  const { text } = fieldsOf(webhook);
  const save = ({ name, url, events, headers }: FormValues) => {
    const body: NewWebhook = { name, url, events, headers: headersOf(headers) };
    return saveItem("/api/webhooks", webhook, body);
  };
  return (
    <EditDialog noun="webhook" item={webhook} save={save} {...dialog} wide>
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
