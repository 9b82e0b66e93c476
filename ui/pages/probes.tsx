/** Probes: the configured HTTP endpoints and TLS certificates. @module */

import type { CertificateCheck, EndpointCheck } from "../api/types.ts";
import { Button } from "../components/button.tsx";
import { type Column, Name } from "../components/columns.tsx";
import { Listing, ListingSection } from "../components/listing.tsx";
import { Page, Section } from "../components/page.tsx";
import { reloadAll, useRead } from "../components/reading.ts";
import { Reason, State, Text } from "../components/states.tsx";
import { milliseconds } from "../base/text.ts";
import { Time } from "../components/time.tsx";
import { RENEWAL_DAYS } from "../parts/links.tsx";

export default function Probes() {
  const endpoints = useRead("GET /api/endpoints", {});
  const certificates = useRead("GET /api/ssl", {});
  const check = reloadAll(endpoints, certificates);
  return (
    <Page title="Probes" actions={<Button icon="restart" onClick={check}>Check again</Button>}>
      <Section title="Endpoints">
        <Listing
          name="Endpoints"
          columns={ENDPOINT_COLUMNS}
          rows={endpoints.data.value?.endpoints}
          reading={endpoints}
          keyOf={({ name, url }) => `${name} ${url}`}
          hasTallRows
          empty={
            <>
              No endpoints are configured. Set <code>ENDPOINTS</code>, e.g.{" "}
              <code>Shop|https://shop.example.com/health|200</code>, and restart Longshore.
            </>
          }
        />
      </Section>
      <ListingSection
        title="Certificates"
        columns={CERTIFICATE_COLUMNS}
        rows={certificates.data.value?.certificates}
        reading={certificates}
        keyOf={({ domain, port }) => `${domain}:${port}`}
        hasTallRows
        empty={
          <>
            No domains are configured. Set <code>SSL_DOMAINS</code>, e.g.{" "}
            <code>shop.example.com,mail.example.com:465</code>, and restart Longshore.
          </>
        }
      />
    </Page>
  );
}

const ENDPOINT_COLUMNS: readonly Column<EndpointCheck>[] = [
  { title: "Name", cell: ({ name }) => <Name>{name}</Name> },
  { title: "URL", cell: ({ url }) => <Text>{url}</Text>, wide: true },
  {
    title: "Status",
    cell: ({ healthy, status, expectedStatus, error }) => (
      <>
        <span class="outcome">
          <State state={healthy ? "up" : "down"} />
          <span class="muted">
            {healthy || status === null ? status : `${status}, not ${expectedStatus}`}
          </span>
        </span>
        {status === null && <Reason>{error}</Reason>}
      </>
    ),
  },
  {
    title: "Response time",
    cell: ({ responseTime }) => milliseconds(responseTime),
    numeric: true,
    width: "w-m",
  },
];

const CERTIFICATE_COLUMNS: readonly Column<CertificateCheck>[] = [
  {
    title: "Domain",
    cell: ({ domain, port }) => <Name>{port === 443 ? domain : `${domain}:${port}`}</Name>,
  },
  { title: "Expires", cell: (certificate) => <Expiry {...certificate} /> },
  { title: "Issuer", cell: ({ issuer }) => <Text>{issuer}</Text>, wide: true },
];

function Expiry({ valid, daysRemaining, expiresAt, error }: CertificateCheck) {
  const isSoon = daysRemaining !== null && daysRemaining <= RENEWAL_DAYS;
  return (
    <>
      <span class="outcome">
        <State
          state={valid ? "valid" : expiresAt === null ? "unknown" : "invalid"}
          tone={!valid ? "bad" : isSoon ? "warn" : "good"}
        />
        {expiresAt !== null && <Time at={expiresAt} />}
      </span>
      <Reason>{error}</Reason>
    </>
  );
}
