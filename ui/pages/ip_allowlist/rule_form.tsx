/**
 * The dialog that creates or changes a rule of the allowlist.
 *
 * @module
 */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { IpRule } from "../../api/types.ts";
import {
  CheckField,
  EditDialog,
  type FormValues,
  SelectField,
  TextArea,
  TextField,
} from "../../components/form.tsx";
import { fromLocalInput, toLocalInput } from "../../components/local_time.ts";
import type { UserOption } from "../../components/user_options.ts";

export function RuleForm({ rule, range, users, onClose, onSaved }: {
  /** Without one, a new rule is created. */
  rule: IpRule | undefined;
  /** The initial range of a new rule. */
  range: string | undefined;
  users: readonly UserOption[];
  onClose: () => void;
  onSaved: () => void;
}) {
  const scope = useSignal(rule?.scope ?? "global");
  const save = async ({ expires, ...values }: FormValues) => {
    const body = {
      ...values as Pick<IpRule, "cidr" | "label" | "description" | "enabled" | "scope">,
      scope_id: values.scope_id ?? null,
      expires_at: fromLocalInput(expires),
    };
    const saved = rule
      ? await api("PUT /api/ext/service-enterprise/ip-allowlist/rules/{id}", {
        path: { id: rule.id },
        body,
      })
      : await api("POST /api/ext/service-enterprise/ip-allowlist/rules", { body });
    onSaved();
    return saved.label;
  };
  return (
    <EditDialog noun="rule" name={rule?.label} save={save} onClose={onClose}>
      <TextField
        label="Range"
        name="cidr"
        value={rule?.cidr ?? range}
        hint="A network or a single address, e.g. 203.0.113.0/24 or 2001:db8::/32"
        autocomplete="off"
        required
        maxLength={64}
      />
      <TextField label="Label" name="label" value={rule?.label} required maxLength={100} />
      <TextArea label="Description" name="description" value={rule?.description ?? ""} rows={2} />
      <div class="field-row">
        <SelectField
          label="Scope"
          name="scope"
          value={scope.value}
          options={[{ value: "global", name: "All users" }, { value: "user", name: "One user" }]}
          onChange={(value) => scope.value = value as IpRule["scope"]}
        />
        {scope.value === "user" && (
          <SelectField
            label="User"
            name="scope_id"
            value={rule?.scope_id ?? undefined}
            options={users}
            required
          />
        )}
      </div>
      <TextField
        label="Expires"
        name="expires"
        type="datetime-local"
        value={toLocalInput(rule?.expires_at)}
        hint="In your time zone. Empty: never"
      />
      <CheckField label="Enabled" name="enabled" checked={rule?.enabled ?? true} />
    </EditDialog>
  );
}
