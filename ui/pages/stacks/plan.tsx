/**
 * The plan of a stack: what a deploy would change, and why.
 *
 * @module
 */

import type { StackPlan } from "../../api/types.ts";
import { Icon } from "../../components/icon.tsx";
import { Badge, Text } from "../../components/states.tsx";
import { type Column, Table } from "../../components/table.tsx";
import { capital, count, plain, plainLines } from "../../components/text.ts";

type Change = StackPlan["changes"][number];

const TONES = {
  create: "good",
  recreate: "warn",
  start: "good",
  remove: "bad",
  none: "idle",
} as const;

const COLUMNS: readonly Column<Change>[] = [
  { title: "Kind", cell: ({ kind }) => capital(kind), wide: true, width: "w-s" },
  { title: "Name", cell: ({ name }) => <Text>{name}</Text>, width: "w-m" },
  {
    title: "Action",
    cell: ({ action }) => <Badge tone={TONES[action]}>{capital(action)}</Badge>,
    width: "w-s",
  },
  { title: "Reason", cell: ({ reasons }) => <Reasons reasons={reasons} /> },
];

/** What changes comes first. */
export function Plan({ plan: { changes, warnings } }: { plan: StackPlan }) {
  const isChange = ({ action }: Change) => action !== "none";
  const changed = changes.filter(isChange);
  const rows = [...changed, ...changes.filter((each) => !isChange(each))];
  return (
    <div class="plan">
      {warnings.map((warning) => (
        <p key={warning} class="note warn">
          <Icon name="alert" />
          <span class="wrap">{plain(warning)}</span>
        </p>
      ))}
      <p role="status">{summaryOf(changed)}</p>
      <Table
        name="Plan"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ kind, name }) => `${kind} ${name}`}
      />
    </div>
  );
}

/** E.g. `A deploy creates 2 and recreates 1`. */
function summaryOf(changed: readonly Change[]): string {
  if (changed.length === 0) return "Nothing to do: the stack is as its sources describe it";
  const parts = (["create", "recreate", "start", "remove"] as const).flatMap((action) => {
    const found = changed.filter((each) => each.action === action);
    if (found.length === 0) return [];
    const kinds = [...new Set(found.map(({ kind }) => kind))];
    const what = kinds.map((kind) =>
      count(found.filter((each) => each.kind === kind).length, kind)
    );
    return [`${action}s ${what.join(" and ")}`];
  });
  return `A deploy ${parts.join(", ")}`;
}

/** Longer than this, old and new value are shown below each other instead of in a sentence. */
const SENTENCE_MAX = 80;

function Reasons({ reasons }: Pick<Change, "reasons">) {
  return (
    <ul class="plan-reasons">
      {reasons.map(({ path, from, to, text }) => (
        <li key={path}>
          {from !== null && to !== null && text.length > SENTENCE_MAX
            ? (
              <div class="change">
                <code>{plain(path)}</code>
                <del>- {plainLines(from)}</del>
                <ins>+ {plainLines(to)}</ins>
              </div>
            )
            : plain(text)}
        </li>
      ))}
    </ul>
  );
}
