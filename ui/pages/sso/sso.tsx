/**
 * Single sign-on: identity providers, and the sessions of their users.
 *
 * @module
 */

import { useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { IdentityProvider } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { NAME_COLUMN } from "../../components/columns.tsx";
import { deleteConfirmed, deleteItem } from "../../components/deletion.ts";
import { Listing } from "../../components/listing.tsx";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Text } from "../../components/states.tsx";
import { SwitchCell } from "../../components/switch_cell.tsx";
import type { Column } from "../../components/table.tsx";
import { plain } from "../../components/text.ts";
import { AUTH_MODE } from "../../state/session.ts";
import { withResult } from "../../state/toasts.ts";
import { ProviderForm } from "./provider_form.tsx";
import { Setup } from "./setup.tsx";
import { SsoSessions } from "./sessions.tsx";

/** The open dialog. */
type Task = { name: "new" } | { name: "edit" | "setup"; provider: IdentityProvider };

export default function Sso() {
  const { data, error, reload } = useRead("GET /api/ext/service-enterprise/sso/providers", {});
  const task = useSignal<Task | undefined>(undefined);
  /** Changes that end sessions. */
  const changes = useSignal(0);
  const onChange = () => {
    changes.value++;
    reload();
  };
  const close = () => task.value = undefined;
  const created = useRef<IdentityProvider | undefined>(undefined);
  /** After a creation the identity provider needs the values of this service. */
  const closeForm = () => {
    task.value = created.current && { name: "setup", provider: created.current };
    created.current = undefined;
  };
  const open = task.value;
  const providers = data.value?.providers;
  return (
    <Page
      title="Single sign-on"
      actions={
        <Button kind="primary" icon="plus" onClick={() => task.value = { name: "new" }}>
          New provider
        </Button>
      }
    >
      <div class="stacked">
        {AUTH_MODE === "key" && (
          <p class="note">
            This server has no users, because AUTH_MODE is key. Set it to users so that identity
            providers can sign them in.
          </p>
        )}
        <Listing
          name="Identity providers"
          columns={columns(onChange)}
          rows={providers}
          error={error.value}
          onRetry={reload}
          keyOf={({ id }) => id}
          nameOf={({ name }) => name}
          actions={(provider) => [
            { name: "Edit", onSelect: () => task.value = { name: "edit", provider } },
            { name: "Setup values", onSelect: () => task.value = { name: "setup", provider } },
            deleteItem(() => remove(provider), onChange),
          ]}
          defaultSort="name"
          empty={"No identity providers yet. Add one so that users sign in with the account of " +
            "your organization."}
        />
        <SsoSessions providers={providers ?? []} changes={changes.value} />
      </div>
      {(open?.name === "new" || open?.name === "edit") && (
        <ProviderForm
          provider={open.name === "edit" ? open.provider : undefined}
          onClose={closeForm}
          onSaved={(provider) => {
            onChange();
            if (open.name === "new") created.current = provider;
          }}
        />
      )}
      {open?.name === "setup" && <Setup provider={open.provider} onClose={close} />}
    </Page>
  );
}

const columns = (onChange: () => void): readonly Column<IdentityProvider>[] => [
  NAME_COLUMN,
  {
    title: "Entity ID",
    cell: ({ entity_id: id }) => <Text>{id}</Text>,
    sort: ({ entity_id: id }) => id,
    wide: true,
  },
  { title: "Kind", cell: () => "SAML", width: "w-xs" },
  {
    title: "New users",
    cell: ({ auto_provision: isCreated, default_role: role }) =>
      isCreated ? `Created as ${role}` : "Refused",
    wide: true,
    width: "w-l",
  },
  {
    title: "Status",
    cell: (provider) => (
      <SwitchCell
        name={provider.name}
        checked={provider.enabled}
        onChange={(enabled) => void toggle(provider, enabled).then(onChange)}
      />
    ),
    sort: ({ enabled }) => Number(enabled),
    width: "w-m",
  },
];

const toggle = ({ id, name }: IdentityProvider, enabled: boolean): Promise<boolean> =>
  withResult(
    `${enabled ? "Enabled" : "Disabled"} ${plain(name)}`,
    () =>
      api("PUT /api/ext/service-enterprise/sso/providers/{id}/toggle", {
        path: { id },
        body: { enabled },
      }),
  );

async function remove({ id, name }: IdentityProvider): Promise<boolean> {
  const consequence = `The identity provider ${plain(name)} is deleted and the sessions of its ` +
    "users end. The users are kept, but cannot sign in through it any more.";
  return await deleteConfirmed(
    { name, consequence },
    () => api("DELETE /api/ext/service-enterprise/sso/providers/{id}", { path: { id } }),
  );
}
