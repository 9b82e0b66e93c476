/** The dialog that says whether an address is admitted, and by which rule. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../../api/client.ts";
import type { IpCheck } from "../../../api/types.ts";
import { Dialog } from "../../../components/dialog.tsx";
import { SelectField, TextField } from "../../../components/fields.tsx";
import { Form } from "../../../components/form.tsx";
import { Icon } from "../../../components/icon.tsx";
import { count, plain } from "../../../base/text.ts";
import type { UserOption } from "../../../parts/user_name.ts";

export function AddressCheck({ users, onClose }: {
  users: readonly UserOption[];
  onClose: () => void;
}) {
  const result = useSignal<IpCheck | undefined>(undefined);
  return (
    <Dialog title="Check address" onClose={onClose}>
      <Form
        submit="Check"
        onCancel={onClose}
        onSubmit={async ({ ip, user }) => {
          result.value = undefined;
          result.value = await api("GET /api/ext/service-enterprise/ip-allowlist/check", {
            query: { ip, ...(user && { user_id: user }) },
          });
        }}
      >
        <TextField label="Address" name="ip" autocomplete="off" required maxLength={64} />
        <SelectField
          label="User"
          name="user"
          options={[{ value: "", name: "Only rules for all users" }, ...users]}
        />
        {result.value && <Result check={result.value} />}
      </Form>
    </Dialog>
  );
}

function Result({ check: { ip, admitted, reason, rules_evaluated: evaluated } }: {
  check: IpCheck;
}) {
  return (
    <div class={admitted ? "note" : "note warn"} role="status">
      <Icon name={admitted ? "check" : "cross"} />
      <p>
        <code>{ip}</code>: {plain(reason)}. {count(evaluated, "rule")} checked.
      </p>
    </div>
  );
}
