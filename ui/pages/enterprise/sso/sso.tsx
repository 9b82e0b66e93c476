/** Single sign-on: identity providers, and the sessions of their users. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../../api/client.ts";
import type { IdentityProvider } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { NAME_COLUMN, SwitchCell, textColumn } from "../../../components/columns.tsx";
import { deleteConfirmed, deleteItem } from "../../../components/deletion.ts";
import { useDialog } from "../../../components/dialog.tsx";
import { Listing } from "../../../components/listing.tsx";
import { Page } from "../../../components/page.tsx";
import { useRead } from "../../../components/reading.ts";
import type { Column } from "../../../components/table.tsx";
import { plain } from "../../../base/text.ts";
import { AUTH_MODE, hasRole } from "../../../state/session.ts";
import { ProviderForm } from "./provider_form.tsx";
import { Setup } from "./setup.tsx";
import { SsoSessions } from "./sessions.tsx";

export default function Sso() {
  const { data, error, reload } = useRead("GET /api/ext/service-enterprise/sso/providers", {});
  /** Changes that end sessions. */
  const changes = useSignal(0);
  const onChange = () => {
    changes.value++;
    reload();
  };
  const dialog = useDialog();
  const showSetup = (provider: IdentityProvider) => dialog.open(Setup, { provider });
  const edit = (provider?: IdentityProvider) =>
    dialog.open(ProviderForm, {
      provider,
      onSaved: (saved) => {
        onChange();
        // The identity provider needs the values of this service.
        if (!provider) showSetup(saved);
      },
    });
  const providers = data.value?.providers;
  return (
    <Page
      title="Single sign-on"
      actions={hasRole("admin", "sso:write") && (
        <Button
          kind="primary"
          icon="plus"
          onClick={() => edit()}
        >
          New provider
        </Button>
      )}
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
          actions={(provider) => {
            const setup = { name: "Setup values", onSelect: () => showSetup(provider) };
            if (!hasRole("admin", "sso:write")) return [setup];
            return [
              { name: "Edit", onSelect: () => edit(provider) },
              setup,
              deleteItem(() => remove(provider), onChange),
            ];
          }}
          defaultSort="name"
          empty={"No identity providers yet. Add one so that users sign in with the account of " +
            "your organization."}
        />
        <SsoSessions providers={providers ?? []} changes={changes.value} />
      </div>
      {dialog.shown}
    </Page>
  );
}

const columns = (onChange: () => void): readonly Column<IdentityProvider>[] => [
  NAME_COLUMN,
  textColumn("Entity ID", ({ entity_id: id }) => id, { wide: true }),
  { title: "Kind", cell: () => "SAML", wide: true, width: "w-xs" },
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
        disabled={!hasRole("admin", "sso:write")}
        enable={(enabled) => enable(provider, enabled)}
        onDone={onChange}
      />
    ),
    sort: ({ enabled }) => Number(enabled),
    width: "w-m",
  },
];

const enable = ({ id }: IdentityProvider, enabled: boolean) =>
  api("PUT /api/ext/service-enterprise/sso/providers/{id}/toggle", {
    path: { id },
    body: { enabled },
  });

const remove = ({ id, name }: IdentityProvider) =>
  deleteConfirmed(
    name,
    `The identity provider ${plain(name)} is deleted and the sessions of its ` +
      "users end. The users are kept, but cannot sign in through it any more.",
    () => api("DELETE /api/ext/service-enterprise/sso/providers/{id}", { path: { id } }),
  );
