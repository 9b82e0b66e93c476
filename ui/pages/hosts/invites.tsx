/** Invites that hosts can still join with. @module */

import { api } from "../../api/client.ts";
import type { FleetInvite } from "../../api/types.ts";
import { type Column, textColumn, timeColumn } from "../../components/columns.tsx";
import { deleteItem } from "../../components/deletion.ts";
import { Section } from "../../components/page.tsx";
import type { Reading } from "../../components/reading.ts";
import { now } from "../../components/time.tsx";
import { SecretField } from "../../components/secret_dialog.tsx";
import { Table } from "../../components/table.tsx";
import { labelText } from "./form.tsx";

const nameOf = ({ name, pattern }: FleetInvite): string => name ?? pattern ?? "Any host";

const COLUMNS: readonly Column<FleetInvite>[] = [
  textColumn("Name", nameOf),
  textColumn("Joined", ({ uses, usesMax }) => `${uses} of ${usesMax}`, { width: "w-xs" }),
  textColumn("Labels", ({ labels }) => labelText(labels), { width: "w-m", wide: true }),
  textColumn("Accepted", ({ acceptsAtOnce }) => acceptsAtOnce ? "At once" : "By an admin", {
    width: "w-m",
    wide: true,
  }),
  timeColumn("Expires", ({ expiresAt }) => expiresAt, { width: "w-s" }),
];

/** The line for a host without Longshore. */
export function InstallLine({ command }: { command: string }) {
  return (
    <>
      <SecretField label="Or, where Longshore is not installed yet" secret={command} />
      {command.includes(" RELEASE/") && (
        <p class="hint">
          Put the address of the release's files in place of RELEASE. With the variable RELEASE_URL
          of this server, it is in the line.
        </p>
      )}
    </>
  );
}

/** Nothing without an open invite. */
export function Invites({ data, reload }: Reading<{ invites: FleetInvite[] }>) {
  const open = data.value?.invites.filter(({ uses, usesMax, expiresAt }) =>
    uses < usesMax && Date.parse(expiresAt) > now.value
  );
  if (!open?.length) return null;
  return (
    <div class="below">
      <Section title="Invited" wide>
        <Table
          name="Open invites"
          columns={COLUMNS}
          rows={open}
          keyOf={({ id }) => id}
          nameOf={nameOf}
          actions={(invite) => [
            deleteItem(invite, {
              nameOf: () => `the invite of ${nameOf(invite)}`,
              consequence: () => "Its line is refused from then on. Hosts that have joined stay.",
              work: ({ id }) => api("DELETE /api/fleet/invites/{id}", { path: { id } }),
            }, reload),
          ]}
        />
      </Section>
    </div>
  );
}
