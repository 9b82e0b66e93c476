/** Creates an API token. @module */

import { api } from "../../api/client.ts";
import { CheckGroup } from "../../components/check_group.tsx";
import type { IssuedApiToken, NewApiToken } from "../../api/types.ts";
import { optionsOf, SelectField, TextField } from "../../components/fields.tsx";
import { FormDialog, type SaveProps } from "../../components/form.tsx";
import { listOf } from "../../components/form_values.ts";
import { capital } from "../../base/text.ts";
import { HostLimitFields, hostLimitsOf } from "../../parts/host_limits.tsx";
import { hasRole, ROLES } from "../../state/session.ts";
import { ACTIONS } from "../enterprise/roles/permissions.ts";

const DAY_MS = 86_400_000;

const LIFETIMES = [
  { value: "30", name: "In 30 days" },
  { value: "90", name: "In 90 days" },
  { value: "365", name: "In a year" },
  { value: "", name: "Never" },
];

const PATTERN_HINT = "Separated by commas; * matches any characters. Empty for all.";

export function TokenForm({ onClose, onSaved }: SaveProps<IssuedApiToken>) {
  return (
    <FormDialog
      title="New token"
      submit="Create"
      wide
      onClose={onClose}
      onSubmit={async ({ name, role, days, stacks, containers, permissions = [], ...others }) => {
        const { hosts, labels: hostLabels } = hostLimitsOf(others);
        const body: NewApiToken = {
          name,
          role,
          expiresAt: days === "" ? null : new Date(Date.now() + days * DAY_MS).toISOString(),
          stacks: listOf(stacks),
          containers: listOf(containers),
          hosts,
          hostLabels,
          permissions: permissions.length > 0 ? permissions : null,
        };
        onSaved(await api("POST /api/tokens", { body }));
      }}
    >
      <TextField
        label="Name"
        name="name"
        placeholder="CI"
        autocomplete="off"
        required
        maxLength={100}
      />
      <div class="field-row">
        <SelectField
          label="Role"
          name="role"
          options={optionsOf(ROLES.filter((role) => hasRole(role)))}
          value="viewer"
        />
        <SelectField label="Expires" name="days" options={LIFETIMES} value="90" />
      </div>
      <details class="more-fields">
        <summary>Stacks and containers</summary>
        <div>
          <TextField label="Stacks" name="stacks" hint={PATTERN_HINT} />
          <TextField
            label="Containers"
            name="containers"
            hint={`${PATTERN_HINT} A container must match both.`}
          />
        </div>
      </details>
      <HostLimitFields
        hosts={null}
        labels={null}
        effect="A token with a limit here sees no other host, and no containers of this server."
      />
      <details class="more-fields">
        <summary>Permissions</summary>
        <div class="permissions">
          <p class="hint">Without a choice, the token has all permissions of its role.</p>
          {Object.entries(ACTIONS).map(([resource, actions]) => (
            <CheckGroup
              key={resource}
              label={capital(resource.replaceAll("_", " "))}
              name="permissions"
              options={actions.map((action) => ({ value: `${resource}:${action}`, name: action }))}
              checked={[]}
            />
          ))}
        </div>
      </details>
    </FormDialog>
  );
}
