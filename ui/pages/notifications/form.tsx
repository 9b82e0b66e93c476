/**
 * The dialog of a notification channel.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { NewNotificationChannel, NotificationChannel } from "../../api/types.ts";
import { EventKinds } from "../../components/event_kinds.tsx";
import {
  EditDialog,
  type FormValues,
  listOf,
  SelectField,
  TextField,
} from "../../components/form.tsx";
import { ConfigFields, configOf } from "./config.tsx";
import { type KindId, KINDS } from "./kinds.ts";
import { TimingFields, timingOf } from "./timing.tsx";

/** The choice of a URL that stands for kind and config. */
const BY_URL = "url";

const SEVERITIES = [
  { value: "info", name: "Info and above" },
  { value: "warning", name: "Warning and above" },
  { value: "critical", name: "Critical only" },
];

export function ChannelForm({ channel, onClose, onSaved }: {
  /** Without one, a new channel is created. The kind of a channel does not change. */
  channel: NotificationChannel | undefined;
  onClose: () => void;
  onSaved: () => void;
}) {
  const chosen = useSignal<KindId | typeof BY_URL>(channel?.kind ?? "email");
  const id = chosen.value;
  const save = async (values: FormValues) => {
    const target = id === BY_URL
      ? { url: values.url as string }
      : { config: configOf(KINDS[id], values) };
    const body = {
      name: values.name as string,
      events: values.events as NonNullable<NewNotificationChannel["events"]>,
      minSeverity: values.minSeverity as NotificationChannel["minSeverity"],
      containers: listOf(values.containers),
      stacks: listOf(values.stacks),
      ...timingOf(values),
      ...target,
    };
    const saved = channel
      ? await api("PUT /api/notifications/channels/{id}", { path: { id: channel.id }, body })
      : await api("POST /api/notifications/channels", {
        body: { ...body, ...(id !== BY_URL && { kind: id }) },
      });
    onSaved();
    return saved.name;
  };
  const kinds = channel ? [channel.kind] : Object.keys(KINDS) as KindId[];
  return (
    <EditDialog noun="channel" name={channel?.name} save={save} onClose={onClose} wide>
      <div class="field-row">
        <TextField label="Name" name="name" value={channel?.name} required maxLength={100} />
        <SelectField
          label="Kind"
          name="kind"
          value={id}
          options={[
            ...kinds.map((kind) => ({ value: kind, name: KINDS[kind].name })),
            { value: BY_URL, name: channel ? "Replace by a URL" : "From a URL" },
          ]}
          onChange={(kind) => chosen.value = kind as KindId | typeof BY_URL}
        />
      </div>
      {id === BY_URL
        ? (
          <TextField
            label="URL"
            name="url"
            placeholder="ntfy://ntfy.example.com/alerts"
            hint="As Shoutrrr and Apprise write it. Its secrets are stored encrypted"
            required
            maxLength={2_048}
            autocomplete="off"
          />
        )
        : (
          <div key={id} class="field-grid">
            <ConfigFields kind={KINDS[id]} value={channel?.config ?? {}} />
          </div>
        )}
      <EventKinds checked={channel?.events ?? ["*"]} />
      <SelectField
        label="Minimum severity"
        name="minSeverity"
        value={channel?.minSeverity ?? "info"}
        options={SEVERITIES}
        hint="The end of a problem is always sent"
      />
      <div class="field-grid">
        <TextField
          label="Containers"
          name="containers"
          value={channel?.containers?.join(", ")}
          placeholder="web*, db"
          hint="Only events of these, separated by commas. Empty: all events"
        />
        <TextField
          label="Stacks"
          name="stacks"
          value={channel?.stacks?.join(", ")}
          placeholder="shop, monitoring-*"
          hint="Only events of their containers. Empty: all events"
        />
      </div>
      <TimingFields channel={channel} />
    </EditDialog>
  );
}
