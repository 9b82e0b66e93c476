/** The agents: machines that are identified by client certificates. @module */

import { api } from "../../../api/client.ts";
import type { Agent, AgentPage, CertificateAuthority } from "../../../api/types.ts";
import { type Column, SwitchCell, timeColumn } from "../../../components/columns.tsx";
import { Listing } from "../../../components/listing.tsx";
import { Section } from "../../../components/page.tsx";
import { type Reading, useRead } from "../../../components/reading.ts";
import { Badge, Text } from "../../../components/states.tsx";
import { plain } from "../../../base/text.ts";
import { now, Time } from "../../../components/time.tsx";
import { query, setQuery } from "../../../state/router.ts";
import { hasRole } from "../../../state/session.ts";
import { deleteItem, type Deletion } from "../../../components/deletion.ts";

/** The largest page of the API. */
const ROWS_MAX = 500;

export function Agents({ current, authorities, onEdit, onDetails }: {
  /** The agents that are not revoked. */
  current: Reading<AgentPage>;
  authorities: readonly CertificateAuthority[];
  onEdit: (agent: Agent) => void;
  onDetails: (agent: Agent) => void;
}) {
  const isRevoked = query.value.get("agents") === "revoked";
  const revoked = useRead(
    "GET /api/ext/service-enterprise/mtls/agents",
    isRevoked ? { query: { revoked: true, limit: ROWS_MAX } } : undefined,
  );
  const { data, error, reload } = isRevoked ? revoked : current;
  const agents = data.value?.agents;
  return (
    <Section
      title="Agents"
      actions={
        <select
          aria-label="Show"
          value={isRevoked ? "revoked" : "current"}
          onChange={({ currentTarget: { value } }) =>
            setQuery({ agents: value === "revoked" ? value : undefined })}
        >
          <option value="current">Current agents</option>
          <option value="revoked">Revoked agents</option>
        </select>
      }
    >
      <Listing
        name="Agents"
        columns={columns(authorities, reload)}
        rows={agents}
        total={data.value?.total}
        reading={{ error, reload }}
        nameOf={({ hostname }) => hostname}
        actions={(agent) => [
          { name: "Details", onSelect: () => onDetails(agent) },
          ...agent.revoked_at === null && hasRole("admin", "mtls:write")
            ? [
              { name: "Edit", onSelect: () => onEdit(agent) },
              deleteItem(agent, REVOCATION, reload),
            ]
            : [],
        ]}
        empty={isRevoked
          ? "No agent has been revoked."
          : "No agents yet. An agent is a machine with a client certificate of its own."}
      />
    </Section>
  );
}

const columns = (
  authorities: readonly CertificateAuthority[],
  onChange: () => void,
): readonly Column<Agent>[] => [
  {
    title: "Host name",
    cell: ({ hostname, pending }) => (
      <span class="name-cell">
        <Text>{hostname}</Text>
        {pending && <Badge tone="warn">Pending</Badge>}
      </span>
    ),
    sort: ({ hostname }) => hostname,
  },
  { title: "Tags", cell: ({ tags }) => <Text>{tags.join(", ") || "–"}</Text>, wide: true },
  {
    title: "Authority",
    cell: ({ ca_id: id }) => <Text>{authorityName(authorities, id)}</Text>,
    wide: true,
  },
  {
    title: "Expires",
    cell: ({ not_after: at }) => <Expiry at={at} />,
    sort: ({ not_after: at }) => at,
    wide: true,
    width: "w-s",
  },
  timeColumn("Last seen", ({ last_seen_at: at }) => at, { wide: true, width: "w-s" }),
  {
    title: "Status",
    cell: (agent) =>
      agent.revoked_at === null
        ? (
          <SwitchCell
            name={agent.hostname}
            checked={agent.enabled}
            disabled={!hasRole("admin", "mtls:write")}
            enable={(enabled) => enable(agent, enabled)}
            onDone={onChange}
          />
        )
        : <Badge tone="bad">Revoked</Badge>,
    sort: ({ enabled }) => Number(enabled),
    width: "w-m",
  },
];

/** The end of a certificate. */
export function Expiry({ at }: { at: string | null }) {
  return at !== null && Date.parse(at) <= now.value
    ? <Badge tone="bad">Expired</Badge>
    : <Time at={at} />;
}

export const authorityName = (
  authorities: readonly CertificateAuthority[],
  id: string | null,
): string => id === null ? "Any" : authorities.find((each) => each.id === id)?.name ?? id;

const enable = ({ id }: Agent, enabled: boolean) =>
  api("PUT /api/ext/service-enterprise/mtls/agents/{id}/toggle", {
    path: { id },
    body: { enabled },
  });

const REVOCATION: Deletion<Agent> = {
  verb: "Revoke",
  nameOf: ({ hostname }) => hostname,
  consequence: ({ hostname }) =>
    `The certificate of ${plain(hostname)} is refused for ever. The machine needs a new ` +
    "certificate and a new agent to be accepted again.",
  work: ({ id }) => api("DELETE /api/ext/service-enterprise/mtls/agents/{id}", { path: { id } }),
};
