/** The dialogs that invite or add a host, and that change its name and labels. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { CreatedFleetInvite, FleetHost } from "../../api/types.ts";
import { CheckField, SelectField, TextField } from "../../components/fields.tsx";
import { type EditProps, FormDialog } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { SecretField } from "../../components/secret_dialog.tsx";
import type { Tone } from "../../components/states.tsx";
import { plain } from "../../base/text.ts";
import { showStatus } from "../../state/toasts.ts";

const LIFETIMES = [
  { value: "30", name: "In 30 minutes" },
  { value: "720", name: "In 12 hours" },
  { value: "10080", name: "In 7 days" },
];

/** Sides that can open the connection. */
const DIALS = [
  { value: "host", name: "The host connects to this server" },
  { value: "server", name: "This server connects to the host" },
] as const;

const LABELS_HINT = "Separated by commas, such as site=kiel, floor=2";

/** A line for hosts that wait, and the address in it that the user replaces. */
const LISTEN_LINE = "longshore join --listen --address https://ADDRESS-OF-THE-HOST";

/** Tones of states, of hosts and of a hub. */
export const TONES: Record<FleetHost["state"], Tone> = {
  connected: "good",
  late: "warn",
  away: "bad",
  pending: "warn",
  never: "idle",
  left: "idle",
};

/** An added or changed host, or an invite of one. */
export type SavedHost = FleetHost | CreatedFleetInvite;

export function HostForm({ item: host, ...dialog }: EditProps<FleetHost, SavedHost>) {
  return host ? <HostChanges host={host} {...dialog} /> : <NewHost {...dialog} />;
}

function NewHost({ onClose, onSaved }: Omit<EditProps<FleetHost, SavedHost>, "item">) {
  const dials = useSignal<typeof DIALS[number]["value"]>("host");
  const isInvite = dials.value === "host";
  return (
    <FormDialog
      title="New host"
      submit={isInvite ? "Create invite" : "Add host"}
      part={dials.value}
      onClose={onClose}
      onSubmit={async (values) => onSaved(await (isInvite ? invite(values) : add(values)))}
    >
      <SelectField label="Connection" name="dials" options={DIALS} choice={dials} />
      {isInvite ? <InviteFields /> : <WaitingHostFields />}
      <TextField label="Name" name="name" hint="Empty: the name of the machine" maxLength={63} />
      <TextField label="Labels" name="labels" hint={LABELS_HINT} />
      {isInvite && <CheckField label="Accept the host at once" name="acceptsAtOnce" />}
    </FormDialog>
  );
}

const invite = ({ name, labels, address, minutes, acceptsAtOnce }: FormValues) =>
  api("POST /api/fleet/invites", {
    body: {
      ...name !== "" && { name },
      labels: labelsOf(labels),
      address,
      expiresMinutes: Number(minutes),
      acceptsAtOnce,
    },
  });

async function add({ token, address, name, labels }: FormValues): Promise<FleetHost> {
  const added = await api("POST /api/fleet/hosts", {
    body: {
      // People copy the whole line, which is a command for the shell of this server.
      token: token.trim().split(" ").at(-1),
      ...address !== "" && { address },
      ...name !== "" && { name },
      labels: labelsOf(labels),
    },
  });
  showStatus(`Added ${plain(added.name)}`);
  return added;
}

function InviteFields() {
  return (
    <>
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
    </>
  );
}

function WaitingHostFields() {
  return (
    <>
      <SecretField label="Run this line on the host, with its address" secret={LISTEN_LINE} />
      <TextField
        label="Token"
        name="token"
        hint="What that line prints. It works once, within 30 minutes"
        required
        autocomplete="off"
      />
      <TextField
        label="Address of the host"
        name="address"
        type="url"
        hint="As this server can reach it. Empty: the address in the token"
        maxLength={300}
      />
    </>
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
