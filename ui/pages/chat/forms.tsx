/**
 * The dialogs of chat channels.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { ChatChannel, ChatChannelConfig } from "../../api/types.ts";
import { EventKinds } from "../../components/event_kinds.tsx";
import {
  EditDialog,
  FormDialog,
  type FormValues,
  SelectField,
  TextArea,
  TextField,
} from "../../components/form.tsx";
import { count, plain } from "../../components/text.ts";
import { showStatus } from "../../state/toasts.ts";

type Platform = ChatChannel["platform"];

export const PLATFORMS: Record<Platform, string> = {
  messenger: "Telegram",
  "team-chat": "Slack",
};

const PLATFORM_OPTIONS = [
  { value: "messenger", name: "Telegram" },
  { value: "team-chat", name: "Slack or compatible" },
];

export function ChannelForm({ channel, onClose, onSaved }: {
  /** Without one, a new channel is created. */
  channel: ChatChannel | undefined;
  onClose: () => void;
  onSaved: () => void;
}) {
  const platform = useSignal<Platform>(channel?.platform ?? "messenger");
  const stored = channel?.platform === platform.value ? channel.config : {};
  const secretHint = channel
    ? "Stored encrypted; ******** keeps the stored one"
    : "Stored encrypted";
  const save = async ({ name, events, ...config }: FormValues) => {
    const body = { name, platform: platform.value, config: configOf(config), events };
    const saved = channel
      ? await api("PUT /api/ext/service-pro/chatops/channels/{id}", {
        path: { id: channel.id },
        body,
      })
      : await api("POST /api/ext/service-pro/chatops/channels", { body });
    onSaved();
    return saved.name;
  };
  return (
    <EditDialog noun="channel" name={channel?.name} save={save} onClose={onClose}>
      <TextField label="Name" name="name" value={channel?.name} required maxLength={100} />
      <SelectField
        label="Platform"
        name="platform"
        value={platform.value}
        options={PLATFORM_OPTIONS}
        onChange={(value) => platform.value = value as Platform}
      />
      {platform.value === "messenger"
        ? (
          <div key="messenger" class="field-row">
            <TextField
              label="Bot token"
              name="bot_token"
              value={stored.bot_token}
              hint={secretHint}
              required
              maxLength={256}
            />
            <TextField
              label="Chat ID"
              name="chat_id"
              value={stored.chat_id}
              hint="Or the @name of a public channel"
              required
              maxLength={128}
            />
          </div>
        )
        : (
          <TextField
            key="team-chat"
            label="Webhook URL"
            name="webhook_url"
            value={stored.webhook_url}
            hint={secretHint}
            required
            maxLength={2_048}
          />
        )}
      <TextField
        key={`${platform.value} api`}
        label="API URL"
        name="api_url"
        value={stored.api_url}
        hint="Only for a gateway that replaces the platform's API"
        maxLength={2_048}
      />
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
