/** Single sign-on: identity providers, and the sessions of their users. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../../api/client.ts";
import type { IdentityProvider } from "../../../api/types.ts";
import { type Column, NAME_COLUMN, SwitchCell, textColumn } from "../../../components/columns.tsx";
import { useDialog } from "../../../components/dialog.tsx";
import { Page } from "../../../components/page.tsx";
import { useRead } from "../../../components/reading.ts";
import { plain } from "../../../base/text.ts";
import { AUTH_MODE, hasRole } from "../../../state/session.ts";
import { ProviderForm } from "./provider_form.tsx";
import { Setup } from "./setup.tsx";
import { SsoSessions } from "./sessions.tsx";
import { useResource } from "../../../components/resource.tsx";
import type { Access } from "../../../components/deletion.ts";

const WRITE: Access = ["admin", "sso:write"];

export default function Sso() {
  const reading = useRead("GET /api/ext/service-enterprise/sso/providers", {});
  /** Changes that end sessions. */
  const changes = useSignal(0);
  const onChange = () => {
    changes.value++;
    reading.reload();
  };
  const dialog = useDialog();
  const showSetup = (provider: IdentityProvider) => dialog.open(Setup, { provider });
  const providers = reading.data.value?.providers;
  const { newButton, list } = useResource({
    title: "Identity providers",
    noun: "provider",
    reading,
    rows: providers,
    onChange,
    columns: columns(onChange),
    write: WRITE,
    form: ProviderForm,
    // The identity provider needs the values of this service.
    onCreated: showSetup,
    actions: (provider, { edit, remove }) => [
      ...edit,
      { name: "Setup values", onSelect: () => showSetup(provider) },
      ...remove,
    ],
    deletion: {
      consequence: ({ name }) =>
        `The identity provider ${plain(name)} is deleted and the sessions of its users end. The ` +
        "users are kept, but cannot sign in through it any more.",
      work: ({ id }) =>
        api("DELETE /api/ext/service-enterprise/sso/providers/{id}", { path: { id } }),
    },
    dialog,
    defaultSort: "name",
    empty: "No identity providers yet. Add one so that users sign in with the account of " +
      "your organization.",
  });
  return (
    <Page title="Single sign-on" actions={newButton("primary")}>
      <div class="stacked">
        {AUTH_MODE === "key" && (
          <p class="note">
            This server has no users, because AUTH_MODE is key. Set it to users so that identity
            providers can sign them in.
          </p>
        )}
        {list}
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
        disabled={!hasRole(...WRITE)}
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
