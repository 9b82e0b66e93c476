/** The hosts of the fleet of this server. @module */

import { api } from "../../api/client.ts";
import type { FleetHost, FleetOverview } from "../../api/types.ts";
import { type Column, NAME_COLUMN, textColumn, timeColumn } from "../../components/columns.tsx";
import type { Access } from "../../components/deletion.ts";
import { confirm, useDialog } from "../../components/dialog.tsx";
import { useRead, useReloadEvery } from "../../components/reading.ts";
import { ResourceTab } from "../../components/resource.tsx";
import { SecretDialog } from "../../components/secret_dialog.tsx";
import { Badge, State } from "../../components/states.tsx";
import { Time } from "../../components/time.tsx";
import { capital, count, plain } from "../../base/text.ts";
import { href } from "../../state/router.ts";
import { hasRole, seesServer } from "../../state/session.ts";
import { withResult } from "../../state/toasts.ts";
import { JobList } from "../../parts/job_list.tsx";
import { RunButton, RunHistory } from "./run.tsx";
import { InstallLine, Invites } from "./invites.tsx";
import { LaterForm } from "./later_form.tsx";
import { Pending } from "./pending.tsx";
import { HostForm, labelText, type SavedHost, TONES } from "./form.tsx";

/** Time between two readings, in milliseconds. */
const REREAD_MS = 10_000;

const WRITE: Access = ["admin", "fleet:write"];

/** A host with what needs attention there, in words. */
interface HostRow extends FleetHost {
  attention: readonly string[];
}

const COLUMNS: readonly Column<HostRow>[] = [
  {
    ...NAME_COLUMN,
    cell: ({ name, state }) =>
      state === "pending" || state === "never" || state === "left"
        ? plain(name)
        : <a class="cut" href={href(`/hosts/${name}/`)}>{plain(name)}</a>,
  },
  {
    title: "State",
    cell: ({ state, since }) => (
      <span class="name-cell">
        <State state={state} tone={TONES[state]} />
        {since !== null && (
          // Beside it, a wide table has when the host was seen last.
          <span class="muted secondary narrow-only">
            since <Time at={since} />
          </span>
        )}
      </span>
    ),
    sort: ({ state }) => state,
    secondLine: true,
    width: "w-m",
  },
  {
    title: "Attention",
    cell: ({ attention }) => <span class="wraps">{plain(capital(attention.join(", ")))}</span>,
    sort: ({ attention }) => -attention.length,
    wide: true,
    secondLine: true,
  },
  {
    title: "Labels",
    cell: ({ labels }) => (
      <span class="name-cell wraps">
        {Object.entries(labels).map(([key, value]) => (
          <Badge key={key}>{plain(`${key}=${value}`)}</Badge>
        ))}
      </span>
    ),
    sort: ({ labels }) => labelText(labels),
    width: "w-m",
    wide: true,
  },
  textColumn("Address", ({ address }) => address, { width: "w-m", wide: true }),
  textColumn("Version", ({ version }) => version, { width: "w-s", wide: true }),
  timeColumn("Last seen", ({ lastSeenAt }) => lastSeenAt, { wide: true, width: "w-s" }),
];

export function FleetHosts() {
  const reading = useRead("GET /api/fleet/hosts", {});
  const overview = useRead("GET /api/fleet/overview", {});
  // Users who are limited to hosts get no changes.
  useReloadEvery(REREAD_MS, () => {
    overview.reload();
    if (!seesServer()) reading.reload();
  });
  const known = new Map(overview.data.value?.hosts.map((each) => [each.id, each]));
  const rows = reading.data.value?.hosts.map((each): HostRow => ({
    ...each,
    attention: attentionOf(known.get(each.id)),
  }));
  const pending = useRead("GET /api/fleet/pending", {});
  // A host that joins uses its invite.
  const mayLeave = hasRole("operator", "stacks:update");
  const mayManage = hasRole(...WRITE) && seesServer();
  const invites = useRead("GET /api/fleet/invites", mayManage ? {} : undefined, [
    "/api/fleet/hosts",
  ]);
  const dialog = useDialog();
  const showLine = (saved: SavedHost) => {
    if (!("command" in saved)) return;
    invites.reload();
    dialog.open(SecretDialog, {
      title: "Invite created",
      label: "Line for the new host",
      secret: saved.command,
      more: <InstallLine command={saved.installCommand} />,
      children: (
        <>
          Run this line in the shell of the new host. It expires <Time at={saved.expiresAt} />.
        </>
      ),
    });
  };
  const sums = overview.data.value?.sums;
  return (
    <>
      {rows && rows.length > 0 && sums && <p class="muted">{sumsText(sums)}</p>}
      <ResourceTab
        title="Hosts"
        noun="host"
        reading={reading}
        rows={rows}
        columns={COLUMNS}
        isTwoLines
        write={WRITE}
        form={mayManage ? HostForm : undefined}
        onCreated={showLine}
        actionsFor={["operator", "stacks:update"]}
        actions={(host, { edit, remove }) => [
          ...host.state === "pending" && mayManage
            ? [{ name: "Accept", onSelect: () => void accept(host, reading.reload) }]
            : [],
          ...host.state === "away" && mayLeave
            ? [{
              name: "When it is back",
              onSelect: () => dialog.open(LaterForm, { host, onSaved: pending.reload }),
            }]
            : [],
          ...edit,
          ...mayManage ? remove : [],
        ]}
        buttons={rows && rows.length > 0 && <RunButton dialog={dialog} />}
        deletion={{
          verb: "Remove",
          consequence: ({ name }) =>
            `${plain(name)} is not managed from here any more. Nothing on the host itself changes.`,
          work: ({ id }) => api("DELETE /api/fleet/hosts/{id}", { path: { id } }),
        }}
        dialog={dialog}
        search={{
          textOf: ({ name, labels, address }) => `${name}\n${labelText(labels)}\n${address}`,
          placeholder: "Name, label or address",
        }}
        defaultSort="name"
        empty={"No other hosts yet. A host that joins can be managed from here; it opens the " +
          "connection itself, so that it works behind a router."}
      />
      <Invites {...invites} />
      {rows && rows.length > 0 && (
        <>
          <JobList group="Fleet" />
          <Pending {...pending} />
          <RunHistory />
        </>
      )}
    </>
  );
}

/** The state has a column of its own. */
const attentionOf = (host: FleetOverview["hosts"][number] | undefined): readonly string[] =>
  host?.attention.filter((words) => words !== host.state) ?? [];

/** Sums over all hosts; parts that are not known are left out. */
function sumsText({ containers, stacks, alerts, updates }: FleetOverview["sums"]): string {
  return [
    containers && `${count(containers.total, "container")}, ${containers.running} running`,
    containers && containers.unhealthy > 0 && `${containers.unhealthy} unhealthy`,
    stacks && count(stacks.total, "stack"),
    stacks && stacks.degraded > 0 && `${stacks.degraded} degraded`,
    alerts && count(alerts.total, "firing alert"),
    updates && count(updates.available, "update"),
  ].filter(Boolean).join(" · ");
}

/** Compares the fingerprint first: an address or a name can be anyone's. */
async function accept({ id, name, machine, fingerprint }: FleetHost, onDone: () => void) {
  const consequence = `${plain(machine)} joins the fleet. Its fingerprint, which ` +
    `\`longshore join\` has shown there, must be ${plain(fingerprint)}.`;
  if (!await confirm({ verb: "Accept", name, consequence })) return;
  await withResult(
    `Accepted ${plain(name)}`,
    () => api("POST /api/fleet/hosts/{id}/accept", { path: { id } }),
  );
  onDone();
}
