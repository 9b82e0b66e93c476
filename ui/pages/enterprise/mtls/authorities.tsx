/** The certificate authorities that sign the certificates of agents. @module */

import { api } from "../../../api/client.ts";
import type { CertificateAuthority, CertificateAuthorityPage } from "../../../api/types.ts";
import { NAME_COLUMN } from "../../../components/columns.tsx";
import { deleteConfirmed, deleteItem } from "../../../components/deletion.ts";
import { Listing } from "../../../components/listing.tsx";
import { Section } from "../../../components/page.tsx";
import type { Reading } from "../../../components/reading.ts";
import { Text } from "../../../components/states.tsx";
import type { Column } from "../../../components/table.tsx";
import { plain } from "../../../base/text.ts";
import { Expiry } from "./agents.tsx";

export function Authorities({ reading }: { reading: Reading<CertificateAuthorityPage> }) {
  const { data, error, reload } = reading;
  return (
    <Section title="Certificate authorities">
      <Listing
        name="Certificate authorities"
        columns={COLUMNS}
        rows={data.value?.cas}
        total={data.value?.total}
        error={error.value}
        onRetry={reload}
        actionsFor={["admin", "mtls:write"]}
        actions={(authority) => [deleteItem(() => remove(authority), reload)]}
        empty="No certificate authorities yet. Agents can be added without one, too."
      />
    </Section>
  );
}

const COLUMNS: readonly Column<CertificateAuthority>[] = [
  { title: "Name", cell: NAME_COLUMN.cell },
  { title: "Subject", cell: ({ subject }) => <Text>{subject}</Text>, wide: true },
  {
    title: "Fingerprint",
    cell: ({ fingerprint }) => (
      <code>
        <Text>{fingerprint}</Text>
      </code>
    ),
    wide: true,
  },
  { title: "Expires", cell: ({ not_after: at }) => <Expiry at={at} />, width: "w-s" },
];

const remove = ({ id, name }: CertificateAuthority) =>
  deleteConfirmed(
    name,
    `The certificate authority ${plain(name)} is deleted. It is refused while ` +
      "an agent uses it.",
    () => api("DELETE /api/ext/service-enterprise/mtls/ca/{id}", { path: { id } }),
  );
