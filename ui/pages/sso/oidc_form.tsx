/** The dialog that creates or changes an OpenID Connect provider. @module */

import type { GroupRole, OidcProvider } from "../../api/types.ts";
import { fieldsOf, SelectField, TextArea, TextField } from "../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { useRead } from "../../components/reading.ts";
import { Loading } from "../../components/states.tsx";
import { SetupValues } from "../../parts/setup_values.tsx";
import { ROOT } from "../../state/root.ts";

const SCOPES = "openid email profile";
const HOURS = 24;

const DEFAULT_ROLES = [
  { value: "", name: "None: refuse the user" },
  "viewer",
  "operator",
  "admin",
];

export function OidcForm({ item: provider, ...dialog }: EditProps<OidcProvider, OidcProvider>) {
  const { text, number, check } = fieldsOf(provider);
  const save = (values: FormValues) => saveItem("/api/identity/oidc", provider, bodyOf(values));
  return (
    <EditDialog noun="provider" item={provider} save={save} {...dialog} wide>
      {!provider && <RedirectUri />}
      {text("Name", "name", { required: true, maxLength: 100 })}
      {text("Issuer", "issuer", {
        type: "url",
        placeholder: "https://id.example.com/realms/main",
        hint: "Exactly as the provider names itself",
        required: true,
        maxLength: 2_048,
      })}
      <div class="field-row">
        {text("Client ID", "clientId", { required: true, maxLength: 512 })}
        <TextField
          label="Client secret"
          name="clientSecret"
          type="password"
          autocomplete="off"
          value={provider?.clientSecret ?? ""}
          hint="Empty for a public client"
          maxLength={1_024}
        />
      </div>
      {text("Scopes", "scopes", {
        initial: SCOPES,
        hint: "Some providers need groups for the groups, and offline_access to check roles later",
        required: true,
        maxLength: 500,
      })}
      {text("Claim with the groups", "rolesClaim", {
        placeholder: "groups",
        hint: "Empty: roles of users are set in Longshore",
        maxLength: 256,
      })}
      <TextArea
        label="Roles of groups"
        name="roleMap"
        value={linesOf(provider?.roleMap ?? [])}
        rows={3}
        code
        placeholder="longshore-admins = admin"
        hint="One in each line: group = role. The highest one counts"
        check={problemOfLines}
      />
      <SelectField
        label="Role of other users"
        name="defaultRole"
        value={provider?.defaultRole ?? ""}
        options={DEFAULT_ROLES}
        hint="With none and without a claim, all new users are refused"
      />
      {check("Create users that do not exist", "autoProvision", true)}
      {check("Sign in existing users by their verified email address", "linkByVerifiedEmail")}
      <details class="more-fields">
        <summary>More options</summary>
        <div>
          <TextField
            label="Allowed domains"
            name="allowedDomains"
            value={provider?.allowedDomains.join(", ")}
            placeholder="example.com, example.org"
            hint="Of verified email addresses; empty for all"
          />
          <TextField
            label="Values of acr that mean several factors"
            name="mfaAcr"
            value={provider?.mfaAcr.join(", ")}
            hint="An amr with mfa always counts"
          />
          {number("Hours until users sign in again", "sessionHours", {
            initial: HOURS,
            min: 1,
            max: 720,
          })}
        </div>
      </details>
    </EditDialog>
  );
}

/** The redirect URI of the first provider. That of another one is known after it was saved. */
function RedirectUri() {
  const { data } = useRead("GET /api/identity/oidc", {});
  if (!data.value) return <Loading name="Redirect URI" />;
  return (
    <>
      <p class="muted">Create a client at the provider first, with this address:</p>
      <SetupValues values={{ "Redirect URI": new URL("auth/oidc/callback", ROOT).href }} />
      {data.value.length > 0 && (
        <p class="hint">
          A provider that does not name its issuer in answers gets another address, which is shown
          after saving.
        </p>
      )}
    </>
  );
}

const bodyOf = (
  { clientSecret, rolesClaim, roleMap, defaultRole, allowedDomains, mfaAcr, ...values }: FormValues,
) => ({
  ...values as Pick<OidcProvider, "name" | "issuer" | "clientId" | "scopes" | "sessionHours">,
  clientSecret: clientSecret || null,
  rolesClaim: rolesClaim || null,
  roleMap: rolesOf(roleMap),
  defaultRole: defaultRole || null,
  allowedDomains: listOf(allowedDomains),
  mfaAcr: listOf(mfaAcr),
});

const listOf = (text: string): string[] =>
  text.split(",").map((each) => each.trim()).filter(Boolean);

const linesOf = (roles: readonly GroupRole[]): string =>
  roles.map(({ value, role }) => `${value} = ${role}`).join("\n");

/** The last `=` separates, because names of groups in directories have some. */
const LINE = /^(.*\S)\s*=\s*([^=]*\S)$/;

function rolesOf(text: string): GroupRole[] {
  return trimmedLines(text).map((line) => {
    const [, value = "", role = ""] = LINE.exec(line) ?? [];
    return { value, role };
  });
}

function problemOfLines(text: string): string | undefined {
  const wrong = trimmedLines(text).find((line) => !LINE.test(line));
  return wrong === undefined ? undefined : `Not a role: ${wrong}. Write it as "group = role"`;
}

const trimmedLines = (text: string): string[] =>
  text.split("\n").map((line) => line.trim()).filter(Boolean);
