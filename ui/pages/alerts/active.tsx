/** The alerts that are firing, and who takes care of them. @module */

import type { ComponentChildren } from "preact";
import { api } from "../../api/client.ts";
import type { ActiveAlert, AlertEvent, AlertRule } from "../../api/types.ts";
import { Link } from "../../components/button.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { fieldsOf } from "../../components/fields.tsx";
import { FormDialog, type SaveProps } from "../../components/form.tsx";
import type { FormValues } from "../../components/form_values.ts";
import { Section } from "../../components/page.tsx";
import { Badge, Text, type Tone } from "../../components/states.tsx";
import type { Column } from "../../components/columns.tsx";
import { Table } from "../../components/table.tsx";
import { capital, plain } from "../../base/text.ts";
import { Time } from "../../components/time.tsx";
import { hasRole } from "../../state/session.ts";
import { showStatus } from "../../state/toasts.ts";
import { SilenceForm } from "./silence_form.tsx";

export function ActiveAlerts({ alerts, onChange }: {
  alerts: readonly ActiveAlert[];
  onChange: () => void;
}) {
  const dialog = useDialog();
  const acknowledge = (alert: AlertEvent) =>
    dialog.open(AcknowledgeForm, { alert, onSaved: onChange });
  const silence = ({ ruleName: rule, container }: AlertEvent) =>
    dialog.open(SilenceForm, {
      item: undefined,
      about: { rule, ...(container !== null && { container }) },
      onSaved: onChange,
    });
  if (alerts.length === 0 && !dialog.shown) return null;
  return (
    <Section title="Active alerts">
      <Table
        name="Active alerts"
        columns={COLUMNS}
        rows={alerts}
        hasTallRows
        keyOf={({ id }) => id}
        // Not that of the rule, whose row has actions, too.
        nameOf={(alert) => `alert ${nameOf(alert)}`}
        {...hasRole("operator", "alerts:write") && {
          actions: (alert: AlertEvent) => [
            { name: "Acknowledge", onSelect: () => acknowledge(alert) },
            { name: "Silence", onSelect: () => silence(alert) },
          ],
        }}
      />
      {dialog.shown}
    </Section>
  );
}

/** E.g. `High CPU`, `High CPU of web`. */
const nameOf = ({ ruleName, container }: AlertEvent): string =>
  container === null ? ruleName : `${ruleName} of ${container}`;

const SEVERITY_TONES: Record<string, Tone> = { warning: "warn", critical: "bad" };

const SeverityBadge = ({ severity }: { severity: string }) => (
  <Badge tone={SEVERITY_TONES[severity] ?? "idle"}>{capital(severity)}</Badge>
);

/** A name and, below it, the severity and what else is to be said. */
export function WithSeverity({ name, severity, children }: {
  name: string;
  severity: string;
  children?: ComponentChildren;
}) {
  return (
    <>
      <span class="name-cell wraps">
        <Text>{name}</Text>
      </span>
      <p class="hint">
        <SeverityBadge severity={severity} /> {children}
      </p>
    </>
  );
}

/** An alert and what was wrong, with a link to the container that it fired for. */
export const AlertName = ({ ruleName, container, severity, message }: AlertEvent) => (
  <WithSeverity name={ruleName} severity={severity}>
    {container === null ? plain(message) : withLink(message, container)}
  </WithSeverity>
);

/** A message, in which the name of the container is the link to its page. */
function withLink(message: string, container: string): ComponentChildren {
  const at = message.indexOf(container);
  if (at < 0) return plain(message);
  return (
    <>
      {plain(message.slice(0, at))}
      <Link to={`/containers/${encodeURIComponent(container)}`}>{plain(container)}</Link>
      {plain(message.slice(at + container.length))}
    </>
  );
}

const INHIBITIONS = { maintenance: "No messages: maintenance", silence: "No messages: silenced" };

/** Says why no messages are sent. */
export const Inhibition = ({ inhibitedBy }: Pick<AlertRule, "inhibitedBy">) =>
  inhibitedBy && <p class="hint">{INHIBITIONS[inhibitedBy]}</p>;

const COLUMNS: readonly Column<ActiveAlert>[] = [
  {
    title: "Alert",
    cell: (alert) => (
      <>
        <AlertName {...alert} />
        <Inhibition {...alert} />
        {alert.acknowledgedAt !== null && (
          <p class="hint">
            Acknowledged by {plain(alert.acknowledgedBy ?? "")} <Time at={alert.acknowledgedAt} />
            {alert.comment !== null && `: ${plain(alert.comment)}`}
          </p>
        )}
      </>
    ),
  },
  { title: "Fired", cell: ({ firedAt }) => <Time at={firedAt} />, width: "w-s" },
];

function AcknowledgeForm({ alert, onClose, onSaved }: SaveProps & { alert: AlertEvent }) {
  const name = plain(nameOf(alert));
  const save = async ({ comment }: FormValues) => {
    const text = comment.trim();
    const saved = await api("POST /api/alerts/events/{id}/acknowledge", {
      path: { id: alert.id },
      body: text === "" ? {} : { comment: text },
    });
    showStatus(`Acknowledged ${name}`);
    onSaved(saved);
  };
  return (
    <FormDialog
      title={`Acknowledge ${name}`}
      submit="Acknowledge"
      onSubmit={save}
      onClose={onClose}
    >
      <p>
        Shows other users that you are working on it. The alert stays active until it is resolved.
      </p>
      {fieldsOf(alert).area("Comment", "comment", { rows: 2 })}
    </FormDialog>
  );
}
