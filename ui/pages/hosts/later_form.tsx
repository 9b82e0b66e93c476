/** The dialog that leaves a deploy or an update for a host that is away. @module */

import type { FleetHost } from "../../api/types.ts";
import { SelectField } from "../../components/fields.tsx";
import { FormDialog } from "../../components/form.tsx";
import { useRead } from "../../components/reading.ts";
import { Dialog } from "../../components/dialog.tsx";
import { Failure, Loading } from "../../components/states.tsx";
import { plain } from "../../base/text.ts";
import { leave, WAIT } from "../../parts/later.tsx";
import { ROOT } from "../../state/root.ts";
import { hasRole } from "../../state/session.ts";
import { showStatus } from "../../state/toasts.ts";

const WAITS = [
  { value: "1d", name: "1 day" },
  { value: WAIT, name: "7 days" },
  { value: "30d", name: "30 days" },
];

const UPDATE = { value: "update", name: "Update to newer images" };
const DEPLOY = { value: "deploy", name: "Deploy the stored sources" };

export function LaterForm({ host: { id, name }, onClose, onSaved }: {
  host: FleetHost;
  onClose: () => void;
  onSaved: () => void;
}) {
  const { data, error, reload } = useRead("GET /api/fleet/stacks", { query: { host: id } });
  const title = `When ${plain(name)} is back`;
  const stacks = data.value?.stacks;
  if (!stacks) {
    return (
      <Dialog title={title} onClose={onClose}>
        {error.value
          ? <Failure error={error.value} onRetry={reload} />
          : <Loading name="Stacks of the host" />}
      </Dialog>
    );
  }
  return (
    <FormDialog
      title={title}
      submit="Leave it"
      onClose={onClose}
      onSubmit={async ({ stack = "", work, wait }) => {
        const path = `api/stacks/${encodeURIComponent(stack)}/${work}`;
        await leave(new URL(`api/fleet/hosts/${id}/${path}`, ROOT), {}, wait);
        showStatus(`${plain(name)} does it when it is back`);
        onSaved();
      }}
    >
      <p class="muted">
        {stacks.length === 0
          ? "This server knows no stack of the host."
          : "The host refuses it if containers of the stack have changed meanwhile."}
      </p>
      <SelectField
        label="Stack"
        name="stack"
        required
        options={stacks.map((each) => ({ value: each.name, name: plain(each.name) }))}
      />
      <SelectField
        label="Work"
        name="work"
        options={hasRole("admin", "stacks:write") ? [UPDATE, DEPLOY] : [UPDATE]}
      />
      <SelectField label="Waits at most" name="wait" options={WAITS} value={WAIT} />
    </FormDialog>
  );
}
