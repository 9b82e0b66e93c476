/** Requests that were left for hosts that were away. @module */

import { api } from "../../api/client.ts";
import type { FleetPending, FleetPendingList } from "../../api/types.ts";
import { type Column, textColumn, timeColumn } from "../../components/columns.tsx";
import { Section } from "../../components/page.tsx";
import type { Reading } from "../../components/reading.ts";
import { State, type Tone } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { requestWords } from "../../base/left_request.ts";
import { plain } from "../../base/text.ts";
import { hasRole, seesServer } from "../../state/session.ts";
import { withResult } from "../../state/toasts.ts";

const TONES: Record<FleetPending["state"], Tone> = {
  pending: "warn",
  running: "warn",
  succeeded: "good",
  failed: "bad",
  refused: "bad",
  expired: "idle",
};

const COLUMNS: readonly Column<FleetPending>[] = [
  {
    title: "Request",
    cell: ({ request, user, host, error }) => (
      <span class="name-cell wraps">
        <span class="cut" title={plain(request)}>{plain(requestWords(request))}</span>
        <span class="muted secondary narrow-only">{plain(host)}</span>
        <span class="muted secondary wraps">{plain(error ?? user)}</span>
      </span>
    ),
  },
  textColumn("Host", ({ host }) => host, { width: "w-m", wide: true }),
  {
    title: "State",
    cell: ({ state }) => <State state={state} tone={TONES[state]} />,
    width: "w-m",
  },
  timeColumn("Left", ({ createdAt }) => createdAt, { width: "w-s", wide: true }),
  timeColumn("Expires", ({ expiresAt, endedAt }) => endedAt === null ? expiresAt : null, {
    width: "w-s",
    wide: true,
  }),
];

/** Nothing while nothing was left. */
export function Pending({ data, reload }: Reading<FleetPendingList>) {
  const pending = data.value?.pending;
  if (!pending?.length) return null;
  const remove = async ({ id }: FleetPending) => {
    const isDone = await withResult(
      "The request was deleted",
      () => api("DELETE /api/fleet/pending/{id}", { path: { id } }),
    );
    if (isDone) reload();
  };
  return (
    <div class="below">
      <Section title="When a host is back" wide>
        <Table
          name="Requests for hosts that are away"
          columns={COLUMNS}
          rows={pending}
          keyOf={({ id }) => id}
          nameOf={({ request, host }) => `${requestWords(request)} for ${host}`}
          {...(hasRole("admin", "fleet:write") && seesServer() && {
            actions: (each: FleetPending) => [{
              name: "Delete",
              onSelect: () => void remove(each),
            }],
          })}
        />
      </Section>
    </div>
  );
}
