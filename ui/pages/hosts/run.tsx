/** The dialogs that run an action on several hosts, and the runs that have ended. @module */

import { useEffect } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { api } from "../../api/client.ts";
import type { FleetRun, FleetRunPlan, Job } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { type Column, timeColumn } from "../../components/columns.tsx";
import { Dialog, type useDialog } from "../../components/dialog.tsx";
import { SelectField, TextField } from "../../components/fields.tsx";
import { FormDialog } from "../../components/form.tsx";
import { listOf } from "../../components/form_values.ts";
import { Section } from "../../components/page.tsx";
import { useRead } from "../../components/reading.ts";
import { Table } from "../../components/table.tsx";
import { count, plain } from "../../base/text.ts";
import { JobStatus } from "../../parts/job_steps.tsx";
import { type Kind, removedText } from "../../parts/prune.tsx";
import { useJobs } from "../../state/jobs.ts";
import { hasRole } from "../../state/session.ts";
import { sentenceOf, showAlert, showStatus } from "../../state/toasts.ts";

const ACTIONS = [
  {
    value: "update-check",
    hasStack: false,
    name: "Check for updates",
    words: "look for newer images",
    needs: ["operator", "containers:update"],
  },
  {
    value: "update",
    hasStack: true,
    name: "Update a stack",
    words: "update the stack",
    needs: ["operator", "stacks:update"],
  },
  {
    value: "deploy",
    hasStack: true,
    name: "Deploy a stack of this server",
    words: "deploy the stack with this server's sources",
    needs: ["admin", "stacks:write"],
  },
  {
    value: "prune",
    hasStack: false,
    name: "Prune",
    words: "remove stopped containers, unused networks, images without a tag and the build cache",
    needs: ["admin", "system:prune"],
  },
] as const;

const RUN_KIND = "fleet.run";

/** Runs that are listed. */
const SHOWN = 10;

const allowed = () => ACTIONS.filter(({ needs: [role, permission] }) => hasRole(role, permission));

/** Opens the form; nothing without an action that the user may do. */
export function RunButton({ dialog }: { dialog: ReturnType<typeof useDialog> }) {
  if (allowed().length === 0) return null;
  const onPlanned = (body: FleetRun, plan: FleetRunPlan) => dialog.open(PlanDialog, { body, plan });
  return <Button onClick={() => dialog.open(RunForm, { onPlanned })}>Run on hosts</Button>;
}

function RunForm({ onClose, onPlanned }: {
  onClose: () => void;
  onPlanned: (body: FleetRun, plan: FleetRunPlan) => void;
}) {
  const action = useSignal<string>(allowed()[0]!.value);
  const { hasStack } = ACTIONS.find(({ value }) => value === action.value)!;
  return (
    <FormDialog
      title="Run on hosts"
      submit="Show plan"
      onClose={onClose}
      onSubmit={async ({ action, hosts, stack }) => {
        const options = hasStack ? { stack } : {};
        const body = { action, ...chosen(listOf(hosts) ?? []), options } as FleetRun;
        const plan = await api("POST /api/fleet/run", { query: { plan: true }, body });
        onPlanned(body, plan as FleetRunPlan);
      }}
    >
      <SelectField label="Action" name="action" options={allowed()} choice={action} />
      {hasStack && <TextField label="Stack" name="stack" maxLength={63} required />}
      <TextField
        label="Hosts"
        name="hosts"
        hint="Names, or labels such as site=kiel, separated by commas"
        required
      />
    </FormDialog>
  );
}

const chosen = (names: readonly string[]) =>
  names.every((name) => name.includes("=")) ? { labels: [...names] } : { hosts: [...names] };

function PlanDialog({ body, plan, onClose }: {
  body: FleetRun;
  plan: FleetRunPlan;
  onClose: () => void;
}) {
  const { words } = ACTIONS.find(({ value }) => value === body.action)!;
  const reachable = plan.hosts.filter(({ obstacle }) => obstacle === null);
  const others = plan.hosts.filter(({ obstacle }) => obstacle !== null);
  const run = async () => {
    try {
      await api("POST /api/fleet/run", { body });
      showStatus(`Started on ${count(reachable.length, "host")}`);
      onClose();
    } catch (error) {
      showAlert(sentenceOf(error));
    }
  };
  return (
    <Dialog title="Run on hosts" onClose={onClose}>
      <p>
        {count(reachable.length, "host")} will {words}
        {reachable.length > 0 && `: ${reachable.map(({ name }) => plain(name)).join(", ")}`}.
      </p>
      {others.length > 0 && (
        <p class="note warn">
          Nothing happens on{" "}
          {others.map(({ name, obstacle }) => `${plain(name)} (${obstacle})`).join(", ")}.
        </p>
      )}
      <div class="actions">
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" disabled={reachable.length === 0} onClick={() => void run()}>
          Run
        </Button>
      </div>
    </Dialog>
  );
}

/** The result of a run. */
interface RunResult {
  action: string;
  /** The stack of an update or a deploy; missing in runs of earlier versions. */
  stack?: string | null;
  hosts: readonly {
    name: string;
    state: string;
    reason: string | null;
    /** Of a prune. */
    pruned?: Record<Kind, number> & { freedBytes: number };
  }[];
}

/** The reason may say no more than the state does. */
function outcomeText({ name, state, reason, pruned }: RunResult["hosts"][number]): string {
  const removed = pruned ? ` (${removedText(pruned, pruned.freedBytes)})` : "";
  return reason === null || reason.startsWith(`Host ${name} is ${state}`)
    ? `${name} ${state}${removed}`
    : `${name} ${state}${removed}: ${reason}`;
}

const hostsOf = ({ result }: Job) => (result as RunResult | null)?.hosts ?? [];

const COLUMNS: readonly Column<Job>[] = [
  {
    title: "Action",
    cell: (job) => (
      <>
        {actionOf(job)}
        <p class="hint wraps">
          {hostsOf(job).map((each) => plain(outcomeText(each))).join("; ")}
        </p>
      </>
    ),
  },
  { title: "Result", cell: (job) => <JobStatus status={job.status} />, width: "w-m" },
  timeColumn("Ended", ({ endedAt }) => endedAt, { width: "w-s" }),
];

function actionOf({ result }: Job): string {
  const { action, stack } = (result ?? {}) as Partial<RunResult>;
  const name = ACTIONS.find(({ value }) => value === action)?.name ?? "–";
  return stack ? `${name}: ${plain(stack)}` : name;
}

/** Nothing before the first run. */
export function RunHistory() {
  const active = useJobs([RUN_KIND]).length;
  const { data, reload } = useRead("GET /api/jobs", {
    query: { kind: [RUN_KIND], limit: SHOWN },
  });
  const isFirst = useSignal(true);
  useEffect(() => {
    if (!isFirst.value) reload();
    isFirst.value = false;
  }, [active]);
  const ended = data.value?.jobs.filter(({ endedAt }) => endedAt !== null) ?? [];
  if (ended.length === 0) return null;
  return (
    <div class="below">
      <Section title="Runs" wide>
        <Table
          name="Past runs"
          columns={COLUMNS}
          rows={ended}
          hasTallRows
          keyOf={({ id }) => id}
          nameOf={actionOf}
        />
      </Section>
    </div>
  );
}
