/** The dialogs that invite a host, and that change its name and labels. @module */

import { api } from "../../api/client.ts";
import type { CreatedFleetInvite, FleetHost } from "../../api/types.ts";
import { CheckField, SelectField, TextField } from "../../components/fields.tsx";
import { type EditProps, FormDialog } from "../../components/form.tsx";
import { plain } from "../../base/text.ts";
import { showStatus } from "../../state/toasts.ts";

const LIFETIMES = [
  { value: "30", name: "In 30 minutes" },
  { value: "720", name: "In 12 hours" },
  { value: "10080", name: "In 7 days" },
];

const LABELS_HINT = "Separated by commas, such as site=kiel, floor=2";

/** A changed host, or an invite of one. */
export type SavedHost = FleetHost | CreatedFleetInvite;

export function HostForm({ item: host, ...dialog }: EditProps<FleetHost, SavedHost>) {
  return host ? <HostChanges host={host} {...dialog} /> : <Invite {...dialog} />;
}

function Invite({ onClose, onSaved }: Omit<EditProps<FleetHost, SavedHost>, "item">) {
  return (
    <FormDialog
      title="Add host"
      submit="Create invite"
      onClose={onClose}
      onSubmit={async ({ name, labels, address, minutes, acceptsAtOnce }) => {
        const body = {
          ...(name !== "" && { name }),
          labels: labelsOf(labels),
          address,
          expiresMinutes: Number(minutes),
          acceptsAtOnce,
        };
        onSaved(await api("POST /api/fleet/invites", { body }));
      }}
    >
      <TextField label="Name" name="name" hint="Empty: the name of the machine" maxLength={63} />
      <TextField label="Labels" name="labels" hint={LABELS_HINT} />
      <TextField
        label="Address of this server"
        name="address"
        type="url"
        hint="As the new host can reach it"
        value={location.origin}
        required
        maxLength={300}
      />
      <SelectField label="Expires" name="minutes" options={LIFETIMES} value="30" />
      <CheckField label="Accept the host at once" name="acceptsAtOnce" />
    </FormDialog>
  );
}

function HostChanges(
  { host, onClose, onSaved }: Omit<EditProps<FleetHost, SavedHost>, "item"> & { host: FleetHost },
) {
  return (
    <FormDialog
      title={`Edit ${plain(host.name)}`}
      submit="Save"
      onClose={onClose}
      onSubmit={async ({ name, labels }) => {
        const saved = await api("PUT /api/fleet/hosts/{id}", {
          path: { id: host.id },
          body: { name, labels: labelsOf(labels) },
        });
        onSaved(saved);
        showStatus(`Saved ${plain(saved.name)}`);
      }}
    >
      <TextField label="Name" name="name" value={host.name} required maxLength={63} />
      <TextField label="Labels" name="labels" hint={LABELS_HINT} value={labelText(host.labels)} />
    </FormDialog>
  );
}

/** E.g. `site=kiel, floor=2`. */
export const labelText = (labels: Record<string, string>): string =>
  Object.entries(labels).map(([key, value]) => `${key}=${value}`).join(", ");

function labelsOf(text: string): Record<string, string> {
  const parts = text.split(",").map((part) => part.trim()).filter(Boolean);
  return Object.fromEntries(parts.map((part) => {
    const [key = "", ...value] = part.split("=");
    return [key.trim(), value.join("=").trim()];
  }));
}
