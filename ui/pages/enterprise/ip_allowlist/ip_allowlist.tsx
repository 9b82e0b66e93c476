/** IP allowlist: the addresses that may use the service. @module */

import { api } from "../../../api/client.ts";
import type { IpRule } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { type Column, SwitchCell } from "../../../components/columns.tsx";
import { useDialog } from "../../../components/dialog.tsx";
import { Page } from "../../../components/page.tsx";
import { reloadAll, useRead } from "../../../components/reading.ts";
import { Badge, Text } from "../../../components/states.tsx";
import { plain } from "../../../base/text.ts";
import { now, Time } from "../../../components/time.tsx";
import { userName, type UserOption } from "../../../parts/user_name.ts";
import { useUserOptions } from "../../../parts/user_options.ts";
import { hasRole } from "../../../state/session.ts";
import { AddressCheck } from "./address_check.tsx";
import { Enforcement } from "./enforcement.tsx";
import { RuleForm } from "./rule_form.tsx";
import { useResource } from "../../../components/resource.tsx";
import type { Access } from "../../../components/deletion.ts";
import type { EditProps } from "../../../components/form.tsx";

const WRITE: Access = ["admin", "ip_allowlist:write"];

export default function IpAllowlist() {
  const rules = useRead("GET /api/ext/service-enterprise/ip-allowlist/rules", {});
  const config = useRead("GET /api/ext/service-enterprise/ip-allowlist/config", {});
  const own = useRead("GET /api/ext/service-enterprise/ip-allowlist/check", {});
  const users = useUserOptions();
  const reload = reloadAll(rules, config, own);
  const dialog = useDialog();
  const Form = (props: EditProps<IpRule>) => <RuleForm {...props} users={users} />;
  const admit = (range: string) =>
    dialog.open(RuleForm, { item: undefined, range, users, onSaved: reload });
  const check = () => dialog.open(AddressCheck, { users });
  const { newButton, list } = useResource({
    title: "Rules",
    noun: "rule",
    reading: {
      error: { value: rules.error.value ?? config.error.value ?? own.error.value },
      reload,
    },
    rows: rules.data.value?.rules,
    columns: columns(users, reload),
    nameOf: ({ label }) => label,
    write: WRITE,
    form: Form,
    deletion: {
      consequence: ({ label, cidr }) =>
        `The rule ${plain(label)} is deleted. While the allowlist is enforced, addresses in ` +
        `${cidr} are refused from the next request on unless another rule admits them.`,
      work: ({ id }) =>
        api("DELETE /api/ext/service-enterprise/ip-allowlist/rules/{id}", { path: { id } }),
    },
    dialog,
    defaultSort: "label",
    empty: "No rules yet. Add one that admits your own address before you enforce the list.",
  });
  return (
    <Page
      title="IP allowlist"
      actions={
        <>
          <Button icon="search" onClick={check}>Check address</Button>
          {newButton("primary")}
        </>
      }
    >
      <div class="stacked">
        <Enforcement
          config={config.data.value}
          own={own.data.value}
          onChange={reload}
          onAdmit={admit}
        />
        {list}
      </div>
      {dialog.shown}
    </Page>
  );
}

const columns = (users: readonly UserOption[], onChange: () => void): readonly Column<IpRule>[] => [
  { title: "Range", cell: ({ cidr }) => <code>{cidr}</code>, sort: ({ cidr }) => cidr },
  {
    title: "Label",
    cell: ({ label }) => (
      <span class="wraps">
        <Text>{label}</Text>
      </span>
    ),
    sort: ({ label }) => label,
  },
  {
    title: "Scope",
    cell: ({ scope_id: id }) => id === null ? "All users" : <Text>{userName(users, id)}</Text>,
    sort: ({ scope_id: id }) => id === null ? "" : userName(users, id),
    wide: true,
  },
  {
    title: "Expires",
    cell: ({ expires_at: at }) =>
      at !== null && Date.parse(at) <= now.value
        ? <Badge tone="warn">Expired</Badge>
        : at === null
        ? "Never"
        : <Time at={at} />,
    sort: ({ expires_at: at }) => at,
    wide: true,
    width: "w-s",
  },
  {
    title: "Status",
    cell: (rule) => (
      <SwitchCell
        name={rule.label}
        checked={rule.enabled}
        disabled={!hasRole(...WRITE)}
        enable={(enabled) => enable(rule, enabled)}
        onDone={onChange}
      />
    ),
    sort: ({ enabled }) => Number(enabled),
    width: "w-m",
  },
];

const enable = ({ id }: IpRule, enabled: boolean) =>
  api("PUT /api/ext/service-enterprise/ip-allowlist/rules/{id}/toggle", {
    path: { id },
    body: { enabled },
  });
