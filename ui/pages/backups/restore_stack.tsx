/** The part of the dialog that restores a whole stack: a name, then the plan, then the restore. @module */

import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { BackupSnapshot, BackupStackRestorePlan } from "../../api/types.ts";
import { bytes, plain } from "../../base/text.ts";
import { confirm } from "../../components/dialog.tsx";
import { Fact, Facts } from "../../components/facts.tsx";
import { SelectField, TextField } from "../../components/fields.tsx";
import { Form } from "../../components/form.tsx";
import { Icon } from "../../components/icon.tsx";
import { beginRestore } from "./begin_restore.ts";
import { volumeName } from "./snapshot_text.ts";

type Way = "new" | "replace";

const WAYS: readonly { value: Way; name: string }[] = [
  { value: "new", name: "New stack" },
  { value: "replace", name: "Replace the existing stack" },
];

/** A plan, with the request that it is of. */
interface Planned {
  plan: BackupStackRestorePlan;
  way: Way;
}

export function StackRestoreForm({ snapshot, onClose }: {
  snapshot: BackupSnapshot;
  onClose: () => void;
}) {
  const { id, stack, target } = snapshot;
  const way = useSignal<Way>("new");
  const planned = useSignal<Planned | undefined>(undefined);
  if (planned.value) {
    return <PlanForm planned={planned.value} snapshot={snapshot} onClose={onClose} />;
  }
  return (
    <Form
      part={way.value}
      submit="Show plan"
      onCancel={onClose}
      onSubmit={async ({ as }) => {
        const to = way.value;
        const query = { target, to, ...to === "new" && { as: String(as) } };
        const plan = await api("GET /api/backup/snapshots/{id}/restore-plan", {
          path: { id },
          query,
        });
        planned.value = { plan, way: to };
      }}
    >
      <SelectField label="Restore as" name="to" choice={way} options={WAYS} />
      {way.value === "new" && (
        <TextField
          label="Name of the stack"
          name="as"
          value={stack ?? ""}
          maxLength={100}
          required
          autocomplete="off"
          hint="Another name if the stack exists on this host"
        />
      )}
    </Form>
  );
}

function PlanForm({ planned: { plan, way }, snapshot: { id, target }, onClose }: {
  planned: Planned;
  snapshot: BackupSnapshot;
  onClose: () => void;
}) {
  const isReplacing = way === "replace";
  const send = async () => {
    if (isReplacing && !await confirmReplace(plan)) return;
    await beginRestore(id, plain(plan.stack), {
      target,
      what: "stack",
      to: way,
      ...!isReplacing && { as: plan.stack },
    });
    onClose();
  };
  return (
    <Form submit="Restore" onSubmit={send} onCancel={onClose}>
      <h3>Plan for {plain(plan.stack)}</h3>
      <div class={isReplacing ? "note warn" : "note"}>
        <Icon name={isReplacing ? "alert" : "info"} />
        <p>{isReplacing ? replacementOf(plan) : NOTHING_STOPS}</p>
      </div>
      <Facts>
        {rowsOf(plan).map(([name, text]) => (
          <Fact key={name} name={name}>
            <span class="wrap">{plain(text)}</span>
          </Fact>
        ))}
      </Facts>
      {plan.warnings.map((warning) => (
        <div key={warning} class="note warn">
          <Icon name="alert" />
          <p>{plain(warning)}</p>
        </div>
      ))}
    </Form>
  );
}

const NOTHING_STOPS =
  "Nothing stops, and nothing that exists is changed. If the containers fail, everything that was " +
  "created is removed.";

const replacementOf = ({ stops }: BackupStackRestorePlan): string =>
  `What is there is kept as a snapshot of its own, and comes back if the containers fail. ${
    stops.length === 0 ? "No container runs." : `Stops meanwhile: ${stops.map(plain).join(", ")}.`
  }`;

/** Lines of the plan by kind, without those that have nothing. */
function rowsOf(plan: BackupStackRestorePlan): [name: string, text: string][] {
  const { services, volumes, directories, networks, images, directory, isGenerated } = plan;
  const parts = [
    ...volumes.map(({ name, action }) => ({ name: volumeName(name), action })),
    ...directories.map(({ path, action }) => ({ name: path, action })),
  ];
  const of = (action: string) =>
    parts.filter((each) => each.action === action).map(({ name }) => name).join(", ");
  const sources = isGenerated ? "Written from the containers" : "Those of the snapshot";
  const rows: [string, string][] = [
    [
      "Services",
      services.map(({ name, action }) => `${name} (${ACTIONS[action]})`).join(", "),
    ],
    ["Replaced", of("replace")],
    ["New", of("create")],
    ["New networks", networks.join(", ")],
    ["Images", images.map(({ name, from }) => `${name} (${ORIGINS[from]})`).join(", ")],
    ["Sources", directory === null ? sources : `${sources}, in ${directory}`],
    ["Room", roomOf(plan)],
  ];
  return rows.filter(([, text]) => text !== "");
}

function roomOf({ room: { needed, free } }: BackupStackRestorePlan): string {
  if (needed === null && free === null) return "";
  return `${needed === null ? "Need unknown" : `Up to ${bytes(needed)}`}, ${
    free === null ? "free room of the engine unknown" : `${bytes(free)} free on the engine's disk`
  }`;
}

const ACTIONS: Record<BackupStackRestorePlan["services"][number]["action"], string> = {
  create: "new",
  recreate: "recreated",
  start: "restarted",
  remove: "removed",
  none: "unchanged",
};

const ORIGINS: Record<BackupStackRestorePlan["images"][number]["from"], string> = {
  host: "on this host",
  snapshot: "from the snapshot",
  registry: "pulled",
};

const confirmReplace = (plan: BackupStackRestorePlan): Promise<boolean> =>
  confirm({
    verb: "Replace",
    name: plan.stack,
    consequence: `The whole stack is replaced by that of the snapshot. ${replacementOf(plan)}`,
    typed: true,
  });
