/** The secrets or configs of the swarm. @module */

import { api } from "../../api/client.ts";
import type { SwarmValue } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import { type Column, NAME_COLUMN, textColumn, timeColumn } from "../../components/columns.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { TextArea, TextField } from "../../components/fields.tsx";
import { EditDialog, type EditProps, FormDialog } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { useRead, useReloadAfter } from "../../components/reading.ts";
import { ResourceSection } from "../../components/resource.tsx";
import { reportJob } from "../../state/jobs.ts";

type Kind = "secret" | "config";

const COLUMNS: readonly Column<SwarmValue>[] = [
  NAME_COLUMN,
  textColumn("Services", ({ services }) => services.join(", ") || null),
  timeColumn("Created", ({ createdAt }) => createdAt, { wide: true, width: "w-s" }),
];

/** Requests of each kind; their paths must be literal. */
const REQUESTS = {
  secret: {
    create: (body: { name: string; value: string }) => api("POST /api/swarm/secrets", { body }),
    remove: (id: string) => api("DELETE /api/swarm/secrets/{id}", { path: { id } }),
    rotate: (id: string, value: string) =>
      api("POST /api/swarm/secrets/{id}/rotate", { path: { id }, body: { value } }),
  },
  config: {
    create: (body: { name: string; value: string }) => api("POST /api/swarm/configs", { body }),
    remove: (id: string) => api("DELETE /api/swarm/configs/{id}", { path: { id } }),
    rotate: (id: string, value: string) =>
      api("POST /api/swarm/configs/{id}/rotate", { path: { id }, body: { value } }),
  },
};

export function Values({ kind, version }: { kind: Kind; version: string }) {
  const secrets = useRead("GET /api/swarm/secrets", kind === "secret" ? {} : undefined);
  const configs = useRead("GET /api/swarm/configs", kind === "config" ? {} : undefined);
  const reading = kind === "secret" ? secrets : configs;
  useReloadAfter(version, reading.reload);
  const dialog = useDialog();
  return (
    <div class="below">
      <ResourceSection
        title={kind === "secret" ? "Secrets" : "Configs"}
        noun={kind}
        reading={reading}
        rows={kind === "secret" ? secrets.data.value?.secrets : configs.data.value?.configs}
        columns={COLUMNS}
        write={["admin", "swarm_secrets:write"]}
        form={(props) => <NewValue kind={kind} {...props} />}
        actions={(value, { remove, mayWrite }) => [
          ...mayWrite
            ? [{ name: "Rotate", onSelect: () => dialog.open(Rotation, { kind, value }) }]
            : [],
          ...remove,
        ]}
        deletion={{
          consequence: ({ name }) => `The ${kind} ${plain(name)} is deleted.`,
          work: ({ id }) => REQUESTS[kind].remove(id),
        }}
        dialog={dialog}
        defaultSort="name"
        empty={kind === "secret"
          ? "No secrets yet. Services read a secret as a file; it is never shown again."
          : "No configs yet. Services read a config as a file."}
      />
    </div>
  );
}

const hint = "Longshore does not show it again";

function NewValue({ kind, ...dialog }: EditProps<SwarmValue, SwarmValue> & { kind: Kind }) {
  const save = ({ name, value }: FormValues) =>
    REQUESTS[kind].create({ name: String(name), value: String(value) });
  return (
    <EditDialog noun={kind} save={save} {...dialog}>
      <TextField label="Name" name="name" required maxLength={64} autocomplete="off" />
      <TextArea label="Value" name="value" required hint={hint} />
    </EditDialog>
  );
}

function Rotation({ kind, value: { id, name, services }, onClose }: {
  kind: Kind;
  value: SwarmValue;
  onClose: () => void;
}) {
  const rotate = ({ value }: FormValues) => {
    onClose();
    return reportJob(() => REQUESTS[kind].rotate(id, String(value)), `Rotated ${plain(name)}`);
  };
  const users = services.length === 1 ? "1 service moves" : `${services.length} services move`;
  return (
    <FormDialog title={`Rotate ${plain(name)}`} submit="Rotate" onSubmit={rotate} onClose={onClose}>
      <TextArea label="New value" name="value" required hint={hint} />
      <p class="hint">A new {kind} is created, and {users} to it one after another.</p>
    </FormDialog>
  );
}
