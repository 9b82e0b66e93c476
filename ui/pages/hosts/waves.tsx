/** Waves: the order in which hosts get new images, where each image is, and which are blocked. @module */

import { api, refusalOf, send } from "../../api/client.ts";
import type { FleetBlockedImage, FleetWaves } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { type Column, timeColumn } from "../../components/columns.tsx";
import { confirm, Dialog, useDialog } from "../../components/dialog.tsx";
import { TextField } from "../../components/fields.tsx";
import { FormDialog } from "../../components/form.tsx";
import { Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Badge, Failure } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { count, imageName, plain, plainLines } from "../../base/text.ts";
import { apiUrl } from "../../state/root.ts";
import { hasRole } from "../../state/session.ts";
import { withResult } from "../../state/toasts.ts";

type WaveImage = FleetWaves["images"][number];

export function Waves() {
  const { data, error, reload } = useRead("GET /api/fleet/waves", {});
  const dialog = useDialog();
  const waves = data.value;
  if (!waves) return error.value ? <Failure error={error.value} onRetry={reload} /> : null;
  const edit = () => dialog.open(WaveForm, { waves, onSaved: reload });
  return (
    <div class="stacked">
      <Blocked />
      <Section
        title="Waves"
        wide
        actions={hasRole("admin", "fleet:write") && <Button onClick={edit}>Edit waves</Button>}
      >
        <p class="muted">{orderText(waves)}</p>
        {waves.images.length > 0 && (
          <Table
            name="New images"
            columns={columnsOf(waves)}
            rows={waves.images}
            keyOf={({ digest, platform }) => `${digest} ${platform}`}
            nameOf={({ image }) => image}
          />
        )}
      </Section>
      {dialog.shown}
    </div>
  );
}

function orderText({ waves, hosts, soakHours }: FleetWaves): string {
  if (waves.length === 0) {
    return "All hosts get new images automatically at the same time, unless one has failed.";
  }
  return `${waves.map(plain).join(" → ")} → other hosts. The next wave follows when ` +
    `${count(hosts, "host")} ran the image well for ${count(soakHours, "hour")}.`;
}

const IMAGE_COLUMN: Column<{ image: string; digest: string; platform: string }> = {
  title: "Image",
  cell: ({ image, digest, platform }) => (
    <span class="breaks" title={digest}>
      {plain(image)} <code class="muted">{imageName(digest)} {plain(platform)}</code>
    </span>
  ),
};

const columnsOf = ({ waves }: FleetWaves): readonly Column<WaveImage>[] => [
  IMAGE_COLUMN,
  {
    title: "Works on",
    cell: ({ progress, isBlocked }) => (
      <span class="name-cell wraps">
        {isBlocked && <Badge>Blocked</Badge>}
        {progress.filter(({ users }) => users > 0).map(({ wave, users, proofs }) => (
          <Badge key={wave}>
            {plain(waves[wave] ?? "Other hosts")} {proofs}/{users}
          </Badge>
        ))}
      </span>
    ),
  },
  timeColumn("Since", ({ since }) => since, { width: "w-s", wide: true }),
];

function WaveForm({ waves: { waves, hosts, soakHours }, onSaved, onClose }: {
  waves: FleetWaves;
  onSaved: () => void;
  onClose: () => void;
}) {
  return (
    <FormDialog
      title="Edit waves"
      submit="Save"
      onClose={onClose}
      onSubmit={async ({ waves, hosts, soakHours }) => {
        await api("PUT /api/fleet/waves", {
          body: {
            waves: waves.split(",").map((label: string) => label.trim()).filter(Boolean),
            hosts: Number(hosts),
            soakHours: Number(soakHours),
          },
        });
        onSaved();
      }}
    >
      <TextField
        label="Labels of hosts"
        name="waves"
        value={waves.join(", ")}
        hint="The first wave first, such as wave=canary, wave=home; hosts without one come last"
      />
      <TextField
        label="Hosts that must run an image well"
        name="hosts"
        type="number"
        value={String(hosts)}
        required
      />
      <TextField
        label="Hours for which they must run it"
        name="soakHours"
        type="number"
        value={String(soakHours)}
        required
      />
    </FormDialog>
  );
}

const BLOCKED_COLUMNS: readonly Column<FleetBlockedImage>[] = [
  IMAGE_COLUMN,
  {
    title: "Failed on",
    cell: ({ host, reason, affected }) => (
      <>
        <span class="breaks">{plain(`${host}: ${reason}`)}</span>
        {affected.length > 0 && (
          <p class="muted breaks narrow-only">Runs on {affectedText(affected)}</p>
        )}
      </>
    ),
  },
  {
    title: "Runs on",
    cell: ({ affected }) => <span class="wraps">{affectedText(affected)}</span>,
    wide: true,
  },
  timeColumn("Since", ({ at }) => at, { width: "w-s", wide: true }),
];

const affectedText = (affected: FleetBlockedImage["affected"]): string =>
  affected.map(({ host, container }) => plain(`${host}/${container}`)).join(", ");

/** Nothing while nothing is blocked. */
function Blocked() {
  const { data, reload } = useRead("GET /api/fleet/blocked", {});
  const dialog = useDialog();
  const blocked = data.value?.blocked;
  if (!blocked?.length) return null;
  const mayLift = hasRole("admin", "fleet:write");
  return (
    <Section title="Blocked images" wide>
      <Table
        name="Blocked images"
        columns={BLOCKED_COLUMNS}
        rows={blocked}
        keyOf={({ id }) => id}
        nameOf={({ image }) => `the block of ${image}`}
        actions={(each: FleetBlockedImage) => [
          ...each.log.length > 0
            ? [{ name: "Show log", onSelect: () => dialog.open(LogDialog, { block: each }) }]
            : [],
          ...each.affected.some(({ canGoBack }) => canGoBack) &&
              hasRole("operator", "containers:update")
            ? [{ name: "Go back", onSelect: () => void goBack(each) }]
            : [],
          ...mayLift ? [{ name: "Lift", onSelect: () => void lift(each, reload) }] : [],
        ]}
      />
      {dialog.shown}
    </Section>
  );
}

function LogDialog({ block: { host, container, log }, onClose }: {
  block: FleetBlockedImage;
  onClose: () => void;
}) {
  return (
    <Dialog title={`Last lines of ${plain(container)} on ${plain(host)}`} onClose={onClose} wide>
      <pre class="output" tabIndex={0}>{plainLines(log.join("\n"))}</pre>
      <div class="actions">
        <button type="button" class="button plain" data-autofocus onClick={onClose}>Close</button>
      </div>
    </Dialog>
  );
}

async function lift({ id, image, host, reason }: FleetBlockedImage, onDone: () => void) {
  const consequence = `It failed on ${plain(host)}: ${plain(reason)}. ` +
    "Hosts may get it again, also automatically.";
  if (!await confirm({ verb: "Lift the block of", name: image, consequence })) return;
  const isDone = await withResult(
    `${plain(image)} may be installed again`,
    () => api("DELETE /api/fleet/blocked/{id}", { path: { id } }),
  );
  if (isDone) onDone();
}

/** Goes back to the image before on each host that runs it and keeps one. */
async function goBack({ image, affected }: FleetBlockedImage) {
  const able = affected.filter(({ canGoBack }) => canGoBack);
  const names = able.map(({ host, container }) => plain(`${host}/${container}`)).join(", ");
  const consequence = `${names} get the image before their last update.`;
  if (!await confirm({ verb: "Go back from", name: image, consequence })) return;
  await withResult(`${count(able.length, "rollback")} started`, async () => {
    let refusal: Error | undefined;
    for (const { hostId, container } of able) {
      const path = `api/fleet/hosts/${hostId}/api/containers/${encodeURIComponent(container)}`;
      const response = await send(apiUrl(`${path}/rollback`), {
        method: "POST",
        body: "{}",
        headers: { "content-type": "application/json" },
      });
      // The others go back all the same.
      if (!response.ok) refusal ??= await refusalOf(response);
    }
    if (refusal) throw refusal;
  });
}
