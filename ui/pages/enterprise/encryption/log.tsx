/** The log of changes of the encryption settings and of key rotations. @module */

import { api } from "../../../api/client.ts";
import type { EncryptionAuditEntry, EncryptionAuditPage } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { useDialog } from "../../../components/dialog.tsx";
import { TextField } from "../../../components/fields.tsx";
import { FormDialog } from "../../../components/form.tsx";
import { Listing } from "../../../components/listing.tsx";
import { Section } from "../../../components/page.tsx";
import type { Reading } from "../../../components/reading.ts";
import { Text } from "../../../components/states.tsx";
import type { Column } from "../../../components/columns.tsx";
import { capital, count, plain } from "../../../base/text.ts";
import { Time } from "../../../components/time.tsx";
import { userName, type UserOption } from "../../../parts/user_name.ts";
import { hasRole } from "../../../state/session.ts";
import { showStatus } from "../../../state/toasts.ts";

export function EncryptionLog({ reading: { data, error, reload }, users }: {
  reading: Reading<EncryptionAuditPage>;
  users: readonly UserOption[];
}) {
  const dialog = useDialog();
  const purge = () => dialog.open(Purge, { onDone: reload });
  const page = data.value;
  return (
    <Section
      title="Encryption log"
      actions={hasRole("admin", "encryption:write") && (
        <Button kind="quiet" onClick={purge}>Delete old entries</Button>
      )}
    >
      <Listing
        name="Encryption log"
        columns={columns(users)}
        rows={page?.entries}
        total={page?.total}
        reading={{ error, reload }}
        empty="Nothing has been changed yet."
      />
      {dialog.shown}
    </Section>
  );
}

const columns = (users: readonly UserOption[]): readonly Column<EncryptionAuditEntry>[] => [
  { title: "Time", cell: ({ created_at: at }) => <Time at={at} />, width: "w-s" },
  {
    title: "Event",
    cell: ({ event_type: type }) => capital(type.replaceAll("_", " ")),
    width: "w-l",
  },
  { title: "Actor", cell: ({ actor }) => <Text>{userName(users, actor)}</Text>, wide: true },
  { title: "Address", cell: ({ ip }) => <code>{plain(ip)}</code>, wide: true, width: "w-m" },
  { title: "Detail", cell: ({ detail }) => <Text>{detail || "–"}</Text>, wide: true },
];

function Purge({ onClose, onDone }: { onClose: () => void; onDone: () => void }) {
  return (
    <FormDialog
      title="Delete old entries"
      submit="Delete"
      onSubmit={async ({ days }) => {
        const { deleted } = await api(
          "DELETE /api/ext/service-enterprise/encryption/audit/retention",
          { query: { days } },
        );
        showStatus(`Deleted ${count(deleted, "entry", "entries")}`);
        onDone();
      }}
      onClose={onClose}
    >
      <p>Older entries of the encryption log are deleted. The deletion is recorded.</p>
      <TextField
        label="Days to keep"
        name="days"
        type="number"
        value={365}
        required
        min={30}
        max={3_650}
        step={1}
      />
    </FormDialog>
  );
}
