/**
 * The agents: machines that are identified by client certificates.
 *
 * @module
 */

import { api } from "../../api/client.ts";
import type { Agent, AgentPage, CertificateAuthority } from "../../api/types.ts";
import { confirm } from "../../components/dialog.tsx";
import { Listing, Newest } from "../../components/listing.tsx";
import type { MenuItem } from "../../components/menu.tsx";
import { Section } from "../../components/page.tsx";
import { type Reading, useRead } from "../../components/reading.ts";
import { Badge, Text } from "../../components/states.tsx";
import { SwitchCell } from "../../components/switch_cell.tsx";
import type { Column } from "../../components/table.tsx";
import { plain } from "../../components/text.ts";
import { now, Time } from "../../components/time.tsx";
import { query, setQuery } from "../../state/router.ts";
import { withResult } from "../../state/toasts.ts";
import type { Task } from "./task.ts";

/** The largest page of the API. */
const ROWS_MAX = 500;

export function Agents({ current, authorities, onOpen }: {
  /** The agents that are not revoked. */
  current: Reading<AgentPage>;
  authorities: readonly CertificateAuthority[];
  onOpen: (task: Task) => void;
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
        error={error.value}
        onRetry={reload}
        keyOf={({ id }) => id}
        nameOf={({ hostname }) => hostname}
        actions={(agent) => menuOf(agent, onOpen, reload)}
        empty={isRevoked
          ? "No agent has been revoked."
          : "No agents yet. An agent is a machine with a client certificate of its own."}
      />
      {data.value && <Newest shown={data.value.agents.length} total={data.value.total} />}
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
  {
    title: "Tags",
    cell: ({ tags }) => <Text>{tags.join(", ") || "–"}</Text>,
    wide: true,
  },
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
  {
    title: "Last seen",
    cell: ({ last_seen_at: at }) => <Time at={at} />,
    sort: ({ last_seen_at: at }) => at,
    wide: true,
    width: "w-s",
  },
  {
    title: "Status",
    cell: (agent) =>
      agent.revoked_at === null
        ? (
          <SwitchCell
            name={agent.hostname}
            checked={agent.enabled}
            onChange={(enabled) => void toggle(agent, enabled).then(onChange)}
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

function menuOf(agent: Agent, onOpen: (task: Task) => void, onChange: () => void): MenuItem[] {
  const details = { name: "Details", onSelect: () => onOpen({ name: "details", agent }) };
  if (agent.revoked_at !== null) return [details];
  return [
    details,
    { name: "Edit", onSelect: () => onOpen({ name: "edit-agent", agent }) },
    {
      name: "Revoke",
      danger: true,
      onSelect: () => void revoke(agent).then((isDone) => isDone && onChange()),
    },
  ];
}

const toggle = ({ id, hostname }: Agent, enabled: boolean): Promise<boolean> =>
  withResult(
    `${enabled ? "Enabled" : "Disabled"} ${plain(hostname)}`,
    () =>
      api("PUT /api/ext/service-enterprise/mtls/agents/{id}/toggle", {
        path: { id },
        body: { enabled },
      }),
  );

async function revoke({ id, hostname }: Agent): Promise<boolean> {
  const consequence = `The certificate of ${plain(hostname)} is refused for ever. The machine ` +
    "needs a new certificate and a new agent to be accepted again.";
  if (!await confirm({ verb: "Revoke", name: hostname, consequence })) return false;
  return await withResult(
    `Revoked ${plain(hostname)}`,
    () => api("DELETE /api/ext/service-enterprise/mtls/agents/{id}", { path: { id } }),
  );
}
