/** The dialogs of chat channels. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../../api/client.ts";
import type { ChatChannel, ChatChannelConfig } from "../../../api/types.ts";
import { EventKinds } from "../../../parts/event_kinds.tsx";
import { fieldsOf, TextArea, TextField } from "../../../components/fields.tsx";
import { EditDialog, type EditProps, FormDialog, saveItem } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";
import { count, plain } from "../../../base/text.ts";
import { showStatus } from "../../../state/toasts.ts";

type Platform = ChatChannel["platform"];

export const PLATFORMS: Record<Platform, string> = {
  messenger: "Telegram",
  "team-chat": "Slack",
};

const PLATFORM_OPTIONS = [
  { value: "messenger", name: "Telegram" },
  { value: "team-chat", name: "Slack or compatible" },
];

export function ChannelForm({ item: channel, ...dialog }: EditProps<ChatChannel>) {
  const platform = useSignal<Platform>(channel?.platform ?? "messenger");
  const { text, select } = fieldsOf(channel);
  const config = fieldsOf<ChatChannelConfig>(
    channel?.platform === platform.value ? channel.config : {},
  );
  const secretHint = channel
    ? "Stored encrypted; ******** keeps the stored one"
    : "Stored encrypted";
  const save = ({ name, events, ...values }: FormValues) => {
    const body = { name, platform: platform.value, config: configOf(values), events };
    return saveItem("/api/ext/service-pro/chatops/channels", channel, body);
  };
  return (
    <EditDialog noun="channel" item={channel} save={save} {...dialog} wide>
      <div class="field-grid">
        {text("Name", "name", { required: true, maxLength: 100 })}
        {select("Platform", "platform", PLATFORM_OPTIONS, { choice: platform })}
      </div>
      <div key={platform.value} class="field-grid">
        {platform.value === "messenger"
          ? (
            <>
              {config.text("Bot token", "bot_token", {
                hint: secretHint,
                required: true,
                maxLength: 256,
              })}
              {config.text("Chat ID", "chat_id", {
                hint: "Or the @name of a public channel",
                required: true,
                maxLength: 128,
              })}
            </>
          )
          : config.text("Webhook URL", "webhook_url", {
            hint: secretHint,
            required: true,
            maxLength: 2_048,
          })}
        {config.text("API URL", "api_url", {
          hint: "Only for a gateway that replaces the platform's API",
          maxLength: 2_048,
        })}
      </div>
      <EventKinds checked={channel?.events ?? []} />
    </EditDialog>
  );
}

/** Fields that were emptied are removed. */
const configOf = ({ platform: _, ...values }: FormValues): ChatChannelConfig =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, value || null]));

/** Sends an event of the user's own to the channels that listen to its kind. */
export function EventForm({ onClose }: { onClose: () => void }) {
  const send = async ({ event_type, title, message }: FormValues) => {
    const { dispatched } = await api("POST /api/ext/service-pro/chatops/dispatch", {
      body: { event_type, payload: { title, ...(message && { message }) } },
    });
    showStatus(`Queued ${plain(event_type)} for ${count(dispatched, "channel")}`);
  };
  return (
    <FormDialog title="Send event" submit="Send" onSubmit={send} onClose={onClose}>
      <TextField
        label="Event"
        name="event_type"
        value="deploy.finished"
        hint="Sent to enabled channels with this kind of event, or with all events"
        required
        pattern="[\w.\-]{1,100}"
      />
      <TextField label="Title" name="title" required maxLength={300} />
      <TextArea label="Message" name="message" />
    </FormDialog>
  );
}
