/** Single sign-on: identity providers of all kinds, and the sessions of SAML. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { IdentityProvider, OidcProvider } from "../../api/types.ts";
import { plain } from "../../base/text.ts";
import { Button } from "../../components/button.tsx";
import { type Column, NAME_COLUMN, SwitchCell, textColumn } from "../../components/columns.tsx";
import type { Access } from "../../components/deletion.ts";
import { useDialog } from "../../components/dialog.tsx";
import type { EditProps } from "../../components/form.tsx";
import { Page } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { useResource } from "../../components/resource.tsx";
import { hasEdition } from "../../state/edition.ts";
import { AUTH_MODE, hasRole } from "../../state/session.ts";
import { sentenceOf, showAlert } from "../../state/toasts.ts";
import { ProviderForm } from "../enterprise/sso/provider_form.tsx";
import { SsoSessions } from "../enterprise/sso/sessions.tsx";
import { Setup } from "../enterprise/sso/setup.tsx";
import { OidcForm } from "./oidc_form.tsx";
import { OidcSetup, OidcTestDialog } from "./oidc_setup.tsx";

const WRITE: Access = ["admin", "sso:write"];

/** A provider of either kind. */
interface Provider {
  id: string;
  name: string;
  enabled: boolean;
  /** Issuer or entity ID. */
  identity: string;
  newUsers: string;
  oidc?: OidcProvider;
  saml?: IdentityProvider;
}

export default function Sso() {
  const isEnterprise = hasEdition("enterprise") === true;
  const reading = useRead("GET /api/identity/oidc", {});
  const saml = useRead(
    "GET /api/ext/service-enterprise/sso/providers",
    isEnterprise ? {} : undefined,
  );
  /** Changes that end sessions. */
  const changes = useSignal(0);
  const onChange = () => {
    changes.value++;
    reading.reload();
    saml.reload();
  };
  const dialog = useDialog();
  const rows = providersOf(reading.data.value, isEnterprise ? saml.data.value?.providers : []);
  const { newButton, list } = useResource<Provider>({
    title: "Identity providers",
    noun: "provider",
    reading: saml.error.value ? saml : reading,
    rows,
    onChange,
    columns: columns(onChange),
    write: WRITE,
    form: EditForm,
    isFixed: ({ oidc }) => oidc?.readOnly === true,
    // The identity provider needs the values of this service.
    onCreated: (saved) => showSetup(dialog.open, { oidc: saved as unknown as OidcProvider }),
    actions: (provider, { edit, remove }) => [
      ...edit,
      { name: "Setup values", onSelect: () => showSetup(dialog.open, provider) },
      ...testActions(dialog.open, provider),
      ...remove,
    ],
    deletion: {
      consequence: ({ name, oidc }) =>
        `The identity provider ${plain(name)} is deleted and the sessions of its users end. The ` +
        `users are kept, but cannot sign in through it any more${
          oidc ? " until a provider with the same issuer is added" : ""
        }.`,
      work: ({ id, oidc }) =>
        oidc
          ? api("DELETE /api/identity/oidc/{id}", { path: { id } })
          : api("DELETE /api/ext/service-enterprise/sso/providers/{id}", { path: { id } }),
    },
    dialog,
    defaultSort: "name",
    empty: "No identity providers yet. Add one so that users sign in with the account of " +
      "your organization.",
  });
  const createSaml = () =>
    dialog.open(ProviderForm, {
      item: undefined,
      onSaved: (saved: IdentityProvider) => {
        onChange();
        showSetup(dialog.open, { saml: saved });
      },
    });
  return (
    <Page
      title="Single sign-on"
      actions={
        <>
          {isEnterprise && hasRole(...WRITE) && (
            <Button icon="plus" onClick={createSaml}>New SAML provider</Button>
          )}
          {newButton("primary")}
        </>
      }
    >
      <div class="stacked">
        {AUTH_MODE === "key" && (
          <p class="note">
            This server is in key mode and has no users. Change to users mode in the settings so
            that identity providers can sign them in.
          </p>
        )}
        {list}
        {isEnterprise && (
          <SsoSessions providers={saml.data.value?.providers ?? []} changes={changes.value} />
        )}
      </div>
      {dialog.shown}
    </Page>
  );
}

/** The form of either kind; new providers of SAML have a button of their own. */
function EditForm({ item, onSaved, ...dialog }: EditProps<Provider, Provider>) {
  const done = onSaved as unknown as (saved: unknown) => void;
  return item?.saml
    ? <ProviderForm item={item.saml} onSaved={done} {...dialog} />
    : <OidcForm item={item?.oidc} onSaved={done} {...dialog} />;
}

type Open = ReturnType<typeof useDialog>["open"];

function showSetup(open: Open, { oidc, saml }: Pick<Provider, "oidc" | "saml">): void {
  if (oidc) open(OidcSetup, { provider: oidc });
  if (saml) open(Setup, { provider: saml });
}

function testActions(open: Open, { oidc }: Provider) {
  if (!oidc || !hasRole("admin")) return [];
  return [{ name: "Test", onSelect: () => void test(open, oidc) }];
}

async function test(open: Open, provider: OidcProvider): Promise<void> {
  try {
    const path = { id: provider.id };
    const check = await api("POST /api/identity/oidc/{id}/test", { path });
    open(OidcTestDialog, { provider, check });
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}

function providersOf(
  oidc: readonly OidcProvider[] | undefined,
  saml: readonly IdentityProvider[] | undefined,
): Provider[] | undefined {
  return oidc && saml && [
    ...oidc.map((provider) => ({
      id: provider.id,
      name: provider.name,
      enabled: provider.enabled,
      identity: provider.issuer,
      newUsers: provider.autoProvision ? describeRoles(provider) : "Refused",
      oidc: provider,
    })),
    ...saml.map((provider) => ({
      id: provider.id,
      name: provider.name,
      enabled: provider.enabled,
      identity: provider.entity_id,
      newUsers: provider.auto_provision ? `Created as ${provider.default_role}` : "Refused",
      saml: provider,
    })),
  ];
}

function describeRoles({ rolesClaim, defaultRole }: OidcProvider): string {
  if (rolesClaim !== null) return "Created by group";
  return defaultRole === null ? "Refused: no role" : `Created as ${defaultRole}`;
}

const columns = (onChange: () => void): readonly Column<Provider>[] => [
  NAME_COLUMN,
  textColumn("Issuer", ({ identity }) => identity, { wide: true }),
  { title: "Kind", cell: ({ oidc }) => oidc ? "OIDC" : "SAML", wide: true, width: "w-xs" },
  { title: "New users", cell: ({ newUsers }) => newUsers, wide: true, width: "w-l" },
  {
    title: "Status",
    cell: (provider) =>
      provider.oidc?.readOnly ? "Environment" : (
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

const enable = ({ id, oidc }: Provider, enabled: boolean) =>
  oidc
    ? api("PUT /api/identity/oidc/{id}", { path: { id }, body: { enabled } })
    : api("PUT /api/ext/service-enterprise/sso/providers/{id}/toggle", {
      path: { id },
      body: { enabled },
    });
