/** Everything about an entry of the audit log. @module */

import type { AuditEntry } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { Dialog } from "../../components/dialog.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { State } from "../../components/states.tsx";
import { capital, plain, plainLines } from "../../base/text.ts";
import { actorOf, TONES } from "./words.ts";

export function EntryDetails({ entry, onClose }: { entry: AuditEntry; onClose: () => void }) {
  return (
    <Dialog title="Audit entry" onClose={onClose} wide>
      <Facts>
        <Fact name="Time">
          <time dateTime={entry.at}>{entry.at}</time>
        </Fact>
        <Fact name="Actor">{plain(actorOf(entry))}</Fact>
        <Fact name="Role">{capital(entry.role)}</Fact>
        <Fact name="Action">
          <code>{plain(entry.action)}</code>
        </Fact>
        <Fact name="Targets">
          {entry.targets.length === 0 ? "–" : <pre>{entry.targets.map(plain).join("\n")}</pre>}
        </Fact>
        {entry.command !== null && (
          <Fact name="Command">
            <pre>{plainLines(entry.command)}</pre>
          </Fact>
        )}
        <Fact name="Outcome">
          <State state={entry.outcome} tone={TONES[entry.outcome]} />
        </Fact>
        <Fact name="Address">{plain(entry.ip) || "–"}</Fact>
      </Facts>
      <div class="actions">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
