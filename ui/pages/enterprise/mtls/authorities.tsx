/** The certificate authorities that sign the certificates of agents. @module */

import { api } from "../../../api/client.ts";
import type { CertificateAuthority, CertificateAuthorityPage } from "../../../api/types.ts";
import { type Column, NAME_COLUMN } from "../../../components/columns.tsx";
import type { Reading } from "../../../components/reading.ts";
import { Text } from "../../../components/states.tsx";
import { plain } from "../../../base/text.ts";
import { Expiry } from "./agents.tsx";
import { ResourceSection } from "../../../components/resource.tsx";

export function Authorities({ reading }: { reading: Reading<CertificateAuthorityPage> }) {
  return (
    <ResourceSection
      title="Certificate authorities"
      noun="authority"
      reading={reading}
      rows={reading.data.value?.cas}
      total={reading.data.value?.total}
      columns={COLUMNS}
      write={["admin", "mtls:write"]}
      deletion={{
        consequence: ({ name }) =>
          `The certificate authority ${
            plain(name)
          } is deleted. It is refused while an agent uses it.`,
        work: ({ id }) => api("DELETE /api/ext/service-enterprise/mtls/ca/{id}", { path: { id } }),
      }}
      empty="No certificate authorities yet. Agents can be added without one, too."
    />
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
