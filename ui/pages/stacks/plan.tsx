/** The plan of a stack: what a deploy would change, and why. @module */

import { useEffect, useRef } from "preact/hooks";
import type { StackPlan } from "../../api/types.ts";
import { Badge, Text } from "../../components/states.tsx";
import type { Column } from "../../components/columns.tsx";
import { Table } from "../../components/table.tsx";
import { capital, count, plain, plainLines } from "../../base/text.ts";
import { Warnings } from "./generated.tsx";

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

export type ShownPlan = Pick<StackPlan, "changes" | "warnings">;

const isChange = ({ action }: Change) => action !== "none";

/**
 * A plan, with what changes first. The page scrolls to it.
 *
 * @param props.isQuiet The page stays where it is: the user has not requested the plan.
 */
export function PlanSection({ plan, isQuiet }: { plan: ShownPlan; isQuiet?: boolean }) {
  const { changes, warnings } = plan;
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    if (!isQuiet) section.current!.scrollIntoView({ block: "nearest" });
  }, [plan]);
  const changed = changes.filter(isChange);
  const rows = [...changed, ...changes.filter((each) => !isChange(each))];
  return (
    <section ref={section} class="section below plan" aria-label="Plan of a deploy">
      <Warnings texts={warnings} />
      <p role="status">{summaryOf(plan)}</p>
      <Table
        name="Plan"
        columns={COLUMNS}
        rows={rows}
        keyOf={({ kind, name }) => `${kind} ${name}`}
      />
    </section>
  );
}

const LIST = new Intl.ListFormat("en-GB");

/** E.g. `A deploy creates 1 network, 1 volume and 2 services; recreates 1 service`. */
export function summaryOf({ changes }: ShownPlan): string {
  const changed = changes.filter(isChange);
  if (changed.length === 0) return "Nothing to do: the stack is as its sources describe it";
  const parts = (["create", "recreate", "start", "remove"] as const).flatMap((action) => {
    const found = changed.filter((each) => each.action === action);
    if (found.length === 0) return [];
    const kinds = [...new Set(found.map(({ kind }) => kind))];
    const what = kinds.map((kind) =>
      count(found.filter((each) => each.kind === kind).length, kind)
    );
    return [`${action}s ${LIST.format(what)}`];
  });
  return `A deploy ${parts.join("; ")}`;
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
