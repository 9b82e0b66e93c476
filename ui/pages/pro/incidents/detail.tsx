/** One incident and its timeline. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../../api/client.ts";
import type { IncidentDetail, TimelineEntry } from "../../../api/types.ts";
import { Button, Link } from "../../../components/button.tsx";
import { useDialog } from "../../../components/dialog.tsx";
import { Fact, Facts, TimeFact } from "../../../components/facts.tsx";
import { optionsOf, SelectField, TextArea } from "../../../components/fields.tsx";
import { Form } from "../../../components/form.tsx";
import type { FormValues } from "../../../components/form_values.ts";
import { Menu } from "../../../components/menu.tsx";
import { Page, Section } from "../../../components/page.tsx";
import { useRead, useReloadOn } from "../../../components/reading.ts";
import { Badge, Failure } from "../../../components/states.tsx";
import { capital, duration, plain, plainLines } from "../../../base/text.ts";
import { Time } from "../../../components/time.tsx";
import { Unavailable } from "../../../parts/unavailable.tsx";
import { navigate } from "../../../state/router.ts";
import { hasRole } from "../../../state/session.ts";
import { showStatus } from "../../../state/toasts.ts";
import { INCIDENT_DELETION } from "./deletion.ts";
import { IncidentForm, StatusForm } from "./forms.tsx";
import { Severity, Status } from "./words.tsx";
import { addStyles } from "../../../components/styles.ts";
import styles from "./detail.css" with { type: "text" };
import { deleteItem } from "../../../components/deletion.ts";

addStyles(styles);

export default function Detail({ id = "" }: Record<string, string | undefined>) {
  const path = { id: decodeURIComponent(id) };
  const reading = useRead("GET /api/ext/service-pro/incidents/{id}", { path });
  const { data, error, reload } = reading;
  useReloadOn("incident.", reload);
  const dialog = useDialog();
  const incident = data.value;
  if (!incident || error.value?.status === 404) {
    return <Unavailable name="Incident" list="/incidents" things="incidents" reading={reading} />;
  }
  const edit = () => dialog.open(IncidentForm, { item: incident, onSaved: reload });
  const setStatus = () => dialog.open(StatusForm, { incident, onSaved: reload });
  const more = hasRole("admin", "incidents:write")
    ? [
      { name: "Edit", onSelect: edit },
      deleteItem(incident, INCIDENT_DELETION, () => navigate("/incidents")),
    ]
    : [];
  return (
    <Page
      title={plain(incident.title)}
      lead={
        <>
          <Severity severity={incident.severity} />
          <Status status={incident.status} />
        </>
      }
      actions={hasRole("operator", "incidents:write") && (
        <>
          <Button kind="primary" onClick={setStatus}>Change status</Button>
          {more.length > 0 && <Menu name="More actions" items={() => more} />}
        </>
      )}
    >
      {error.value && <Failure error={error.value} onRetry={reload} />}
      <div class="incident">
        <Section title="Timeline">
          {hasRole("operator", "incidents:write") && <NewEntry id={incident.id} onAdded={reload} />}
          <ul class="timeline" aria-label="Timeline">
            {incident.timeline.map((entry) => <Entry key={entry.id} entry={entry} />)}
          </ul>
        </Section>
        <Section title="Details">
          <Details incident={incident} />
        </Section>
      </div>
      {dialog.shown}
    </Page>
  );
}

function Details({ incident }: { incident: IncidentDetail }) {
  const { source, source_id: sourceId, created_at: created, resolved_at: resolved } = incident;
  return (
    <>
      {incident.description && <p class="message">{plainLines(incident.description)}</p>}
      <Facts>
        <TimeFact name="Opened" at={created} />
        <Fact name="Opened by">
          {source === "monitor" && sourceId !== null
            ? <Link to={`/uptime/${encodeURIComponent(sourceId)}`}>Monitor</Link>
            : source === "manual"
            ? plain(incident.created_by)
            : capital(source)}
        </Fact>
        <Fact name="Commander">{incident.commander ? plain(incident.commander) : "–"}</Fact>
        <Fact name="Resolved">
          <Time at={resolved} />
          {resolved !== null &&
            ` after ${duration((Date.parse(resolved) - Date.parse(created)) / 1000)}`}
        </Fact>
      </Facts>
    </>
  );
}

const ENTRY_TYPES = optionsOf(["note", "action", "update"]);

function NewEntry({ id, onAdded }: { id: string; onAdded: () => void }) {
  // A new key after each entry empties the form.
  const round = useSignal(0);
  const add = async ({ type, message }: FormValues) => {
    await api("POST /api/ext/service-pro/incidents/{id}/timeline", {
      path: { id },
      body: { type, message },
    });
    showStatus("Added the entry");
    round.value++;
    onAdded();
  };
  return (
    <div class="new-entry">
      <Form key={round.value} submit="Add entry" onSubmit={add}>
        <TextArea label="Message" name="message" required rows={2} />
        <SelectField
          label="Kind"
          name="type"
          options={ENTRY_TYPES}
          hint="Updates also go to webhooks and channels"
        />
      </Form>
    </div>
  );
}

function Entry({ entry }: { entry: TimelineEntry }) {
  return (
    <li>
      <p class="entry-head">
        <strong>{plain(entry.author)}</strong>
        <Badge>{capital(entry.type.replaceAll("_", " "))}</Badge>
        <Time at={entry.created_at} />
      </p>
      <p class="message">{plainLines(entry.message)}</p>
    </li>
  );
}
