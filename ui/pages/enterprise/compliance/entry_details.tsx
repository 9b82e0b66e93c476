/** The dialog with all of an entry, and whether its hashes are right. @module */

import type { ComplianceEntryDetail } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { Dialog } from "../../../components/dialog.tsx";
import { CodeFact, Fact, Facts } from "../../../components/facts.tsx";
import { useRead } from "../../../components/reading.ts";
import { Badge, Failure, Loading } from "../../../components/states.tsx";
import { capital, plain, plainLines } from "../../../base/text.ts";
import { userName, type UserOption } from "../../../parts/user_name.ts";
import { StoredTime, targetOf } from "./entry.tsx";

export function EntryDetails({ id, users, onClose }: {
  id: string;
  users: readonly UserOption[];
  onClose: () => void;
}) {
  const { data, error, reload } = useRead(
    "GET /api/ext/service-enterprise/compliance/logs/{id}",
    { path: { id } },
  );
  return (
    <Dialog title="Entry" onClose={onClose} wide>
      {error.value
        ? <Failure error={error.value} onRetry={reload} />
        : data.value
        ? <Details entry={data.value} users={users} />
        : <Loading name="Entry" />}
      <div class="actions">
        <Button kind="primary" onClick={onClose}>Done</Button>
      </div>
    </Dialog>
  );
}

function Details({ entry, users }: { entry: ComplianceEntryDetail; users: readonly UserOption[] }) {
  return (
    <Facts>
      <Fact name="Hashes">
        {entry.chain_valid
          ? <Badge tone="good">Valid</Badge>
          : <Badge tone="bad">Not valid: the entry or its neighbors were modified</Badge>}
      </Fact>
      <Fact name="Time">
        <StoredTime at={entry.created_at} /> <span class="muted">{plain(entry.created_at)}</span>
      </Fact>
      <Fact name="Action">{plain(entry.action)}</Fact>
      <Fact name="Actor">
        {plain(userName(users, entry.actor_id))} ({plain(entry.actor_type)})
      </Fact>
      <Fact name="Target">{plain(targetOf(entry))}</Fact>
      <Fact name="Outcome">{plain(capital(entry.outcome))}</Fact>
      <Fact name="Category">{plain(entry.category)}</Fact>
      <Fact name="Severity">{plain(entry.severity)}</Fact>
      {entry.detail !== null && <Fact name="Detail">{plain(entry.detail)}</Fact>}
      {entry.recorded_by !== null && (
        <Fact name="Recorded by">{plain(userName(users, entry.recorded_by))}</Fact>
      )}
      {entry.metadata !== null && (
        <Fact name="Metadata">
          <pre>{plainLines(JSON.stringify(entry.metadata, null, 2))}</pre>
        </Fact>
      )}
      <CodeFact name="Event ID">{entry.event_id}</CodeFact>
      <CodeFact name="Hash">{entry.entry_hash}</CodeFact>
      <CodeFact name="Previous hash">{entry.previous_hash}</CodeFact>
    </Facts>
  );
}
