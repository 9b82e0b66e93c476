/** Compliance: the log that proves who did what, with search, verification and export. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../../api/client.ts";
import type { ComplianceConfig, ComplianceStats } from "../../../api/types.ts";
import { Button } from "../../../components/button.tsx";
import { confirm, useDialog } from "../../../components/dialog.tsx";
import { CodeFact, Fact, Facts, TimeFact } from "../../../components/facts.tsx";
import { Menu } from "../../../components/menu.tsx";
import { Page } from "../../../components/page.tsx";
import { useRead } from "../../../components/reading.ts";
import { count } from "../../../base/text.ts";
import { useUserOptions } from "../../../parts/user_options.ts";
import { hasRole } from "../../../state/session.ts";
import { sentenceOf, showAlert, showStatus } from "../../../state/toasts.ts";
import { ConfigForm } from "./config_form.tsx";
import { EntryDetails } from "./entry_details.tsx";
import { EntryForm } from "./entry_form.tsx";
import { Export } from "./export.tsx";
import { Log } from "./log.tsx";
import { useVerification } from "./verification.tsx";

const DAY_MS = 24 * 60 * 60 * 1000;

export default function Compliance() {
  const stats = useRead("GET /api/ext/service-enterprise/compliance/stats", {});
  const config = useRead("GET /api/ext/service-enterprise/compliance/config", {});
  const dialog = useDialog();
  /** Counts changes, after which the log is read again. */
  const changes = useSignal(0);
  const onChange = () => {
    changes.value++;
    stats.reload();
    config.reload();
  };
  const users = useUserOptions();
  const showEntry = (id: string) => dialog.open(EntryDetails, { id, users });
  const verification = useVerification(onChange, showEntry);
  const settings = config.data.value;
  const create = () => dialog.open(EntryForm, { onSaved: onChange });
  const edit = (config: ComplianceConfig) => dialog.open(ConfigForm, { config, onSaved: onChange });
  const exportLog = () =>
    dialog.open(Export, { format: settings?.export_format, onDone: onChange });
  return (
    <Page
      title="Compliance"
      actions={
        <>
          <Button busy={verification.isBusy} icon="check" onClick={verification.start}>
            Verify chain
          </Button>
          <Button icon="down" onClick={exportLog}>Export</Button>
          {hasRole("admin", "compliance:write") && (
            <Menu
              name="More actions"
              items={() => [
                { name: "New entry", onSelect: create },
                { name: "Settings", onSelect: settings && (() => edit(settings)) },
                {
                  name: "Delete old entries",
                  danger: true,
                  onSelect: settings && (() => void removeOld(settings).then(onChange)),
                },
              ]}
            />
          )}
        </>
      }
    >
      {settings?.enabled === false && (
        <p class="note warn">The log is off: nothing is recorded. Turn it on in its settings.</p>
      )}
      {verification.result}
      {stats.data.value && <Summary stats={stats.data.value} config={settings} />}
      <Log changes={changes.value} users={users} onShow={showEntry} />
      {dialog.shown}
    </Page>
  );
}

function Summary({ stats, config }: {
  stats: ComplianceStats;
  config: ComplianceConfig | undefined;
}) {
  return (
    <div class="section log-summary">
      <Facts>
        <Fact name="Entries">
          {stats.total_entries.toLocaleString("en")}, of which {stats.last_24h.toLocaleString("en")}
          {" "}
          in the last 24 hours
        </Fact>
        <Fact name="Failures">{(stats.by_outcome.failure ?? 0).toLocaleString("en")}</Fact>
        <TimeFact name="Oldest entry" at={stats.oldest_entry} />
        <Fact name="Kept for">{config ? count(config.retention_days, "day") : "–"}</Fact>
        <CodeFact name="Hash of the head">{stats.head_hash}</CodeFact>
      </Facts>
    </div>
  );
}

/** Deletes the entries that are older than the retention, as happens once a day. */
async function removeOld({ retention_days: days }: ComplianceConfig): Promise<void> {
  try {
    const to = new Date(Date.now() - days * DAY_MS).toISOString();
    const { total } = await api("GET /api/ext/service-enterprise/compliance/logs", {
      query: { to, limit: 1 },
    });
    const consequence = `${count(total, "entry", "entries")} older than ${count(days, "day")} ` +
      `${total === 1 ? "is" : "are"} deleted from the compliance log. Export them first if you ` +
      "need them. The deletion is recorded, and the rest of the log still verifies.";
    if (!await confirm({ verb: "Delete", name: "old entries", consequence })) return;
    const { deleted } = await api("DELETE /api/ext/service-enterprise/compliance/retention");
    showStatus(`Deleted ${count(deleted, "entry", "entries")}`);
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}
