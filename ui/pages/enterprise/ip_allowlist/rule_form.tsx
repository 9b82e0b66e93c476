/** The dialog that creates or changes a rule of the allowlist. @module */

import { useSignal } from "@preact/signals";
import type { IpRule } from "../../../api/types.ts";
import { fieldsOf, TimeField } from "../../../components/fields.tsx";
import { EditDialog, type EditProps, saveItem } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";
import { fromLocalInput } from "../../../base/local_time.ts";
import type { UserOption } from "../../../parts/user_name.ts";

const SCOPES = [{ value: "global", name: "All users" }, { value: "user", name: "One user" }];

export function RuleForm({ item: rule, range, users, ...dialog }: EditProps<IpRule> & {
  /** The initial range of a new rule. */
  range?: string | undefined;
  users: readonly UserOption[];
}) {
  const scope = useSignal(rule?.scope ?? "global");
  const { text, area, select, check } = fieldsOf(rule);
  const save = ({ expires, ...values }: FormValues) => {
    const body = {
      ...values as Pick<IpRule, "cidr" | "label" | "description" | "enabled" | "scope">,
      scope_id: values.scope_id ?? null,
      expires_at: fromLocalInput(expires),
    };
    return saveItem("/api/ext/service-enterprise/ip-allowlist/rules", rule, body);
  };
  return (
    <EditDialog noun="rule" item={rule} nameOf={({ label }) => label} save={save} {...dialog}>
      {text("Range", "cidr", {
        initial: range,
        hint: "A network or a single address, e.g. 203.0.113.0/24 or 2001:db8::/32",
        autocomplete: "off",
        required: true,
        maxLength: 64,
      })}
      {text("Label", "label", { required: true, maxLength: 100 })}
      {area("Description", "description", { rows: 2 })}
      <div class="field-row">
        {select("Scope", "scope", SCOPES, { choice: scope })}
        {scope.value === "user" && select("User", "scope_id", users, { required: true })}
      </div>
      <TimeField
        label="Expires"
        name="expires"
        at={rule?.expires_at}
        hint="In your time zone. Empty: never"
      />
      {check("Enabled", "enabled", true)}
    </EditDialog>
  );
}
