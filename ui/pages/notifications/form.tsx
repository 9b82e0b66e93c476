/** The dialog of a notification channel. @module */

import { useSignal } from "@preact/signals";
import type { ChannelKind, NotificationChannel } from "../../api/types.ts";
import { EventKinds } from "../../parts/event_kinds.tsx";
import { fieldsOf, TextField } from "../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../components/form.tsx";
import { type FormValues, listOf } from "../../components/form_values.ts";
import { ConfigFields, configOf } from "./config.tsx";
import { TimingFields, timingOf } from "./timing.tsx";

/** The choice of a URL that stands for kind and config. */
const BY_URL = "url";

const SEVERITIES = [
  { value: "info", name: "Everything" },
  { value: "warning", name: "Everything that is a problem" },
  { value: "critical", name: "Critical problems" },
];

export function ChannelForm({ item: channel, kinds, ...dialog }: EditProps<NotificationChannel> & {
  kinds: readonly ChannelKind[];
}) {
  const chosen = useSignal<string>(channel?.kind ?? kinds[0]!.id);
  const kind = kinds.find(({ id }) => id === chosen.value);
  const save = (values: FormValues) => {
    const { name, events, minSeverity, url } = values;
    return saveItem("/api/notifications/channels", channel, {
      name,
      events,
      minSeverity,
      containers: listOf(values.containers),
      stacks: listOf(values.stacks),
      ...timingOf(values),
      ...(kind ? { config: configOf(kind, values) } : { url }),
      ...(kind && !channel && { kind: kind.id }),
    });
  };
  const options = [
    ...kinds.filter(({ id }) => !channel || id === channel.kind)
      .map(({ id, title }) => ({ value: id, name: title })),
    { value: BY_URL, name: channel ? "Replace by a URL" : "From a URL" },
  ];
  const { text, select } = fieldsOf(channel);
  return (
    <EditDialog noun="channel" item={channel} save={save} {...dialog} wide>
      <div class="field-grid">
        {text("Name", "name", { required: true, maxLength: 100 })}
        {select("Kind", "kind", options, {
          choice: chosen,
          ...kind && { hint: kind.description },
        })}
      </div>
      {kind
        ? (
          <div key={kind.id} class="field-grid">
            <ConfigFields kind={kind} value={channel?.config ?? {}} />
          </div>
        )
        : (
          <TextField
            label="URL"
            name="url"
            placeholder="ntfy://ntfy.example.com/alerts"
            hint="As Shoutrrr and Apprise write it. Its secrets are stored encrypted"
            required
            maxLength={2_048}
            autocomplete="off"
          />
        )}
      <EventKinds checked={channel?.events ?? ["*"]} hasSeverity />
      {select("Minimum severity", "minSeverity", SEVERITIES, {
        initial: "info",
        hint: "The end of a problem is always sent",
      })}
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
