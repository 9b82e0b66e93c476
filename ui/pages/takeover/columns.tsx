/** The columns of the stacks that can be taken over. @module */

import type { TakeoverStack } from "../../api/types.ts";
import type { Column } from "../../components/columns.tsx";
import { Badge, Reason, withBreaks } from "../../components/states.tsx";
import { count, plain } from "../../base/text.ts";

type SourceView = Pick<TakeoverStack["source"], "path" | "through"> & { kind: string };

const KINDS: Readonly<Record<string, string>> = {
  host: "Files on the host",
  mount: "Files of another program",
  generated: "Generated from the containers",
  text: "Text",
  none: "Not found",
};

/** The file in the labels of the containers, if only the administrator's choice lets it be read. */
export const unreadFile = ({ candidates, configFile }: TakeoverStack): string | null =>
  candidates.some(({ kind }) => kind !== "generated") ? null : configFile;

export const kindText = (kind: string) => KINDS[kind] ?? kind;

/** The place of the files. */
export function SourceText(
  { source: { kind, path, through } }: { source: SourceView },
) {
  return (
    <>
      <span class="wrap">{path === null ? kindText(kind) : withBreaks(path)}</span>
      {path !== null && (
        <p class="hint">
          {through === undefined ? kindText(kind) : <>In {withBreaks(through)}</>}
        </p>
      )}
    </>
  );
}

/** Reasons that are shown; a plan may have many. */
const REASONS_MAX = 3;

/** A deploy of the files. */
export function PlanText({ plan }: { plan: TakeoverStack["plan"] }) {
  if (!plan) return <Badge>Unknown</Badge>;
  const { changesNothing, recreates, creates, reasons } = plan;
  if (changesNothing) return <Badge tone="good">Nothing changes</Badge>;
  return (
    <>
      <Badge tone="warn">
        {recreates.length > 0
          ? `Recreates ${count(recreates.length, "service")}`
          : creates.length > 0
          ? `Creates ${count(creates.length, "service")}`
          : "Changes networks or volumes"}
      </Badge>
      {reasons.slice(0, REASONS_MAX).map((text) => <p key={text} class="hint">{withBreaks(text)}
      </p>)}
      {reasons.length > REASONS_MAX && (
        <p class="hint">and {count(reasons.length - REASONS_MAX, "more reason")}</p>
      )}
    </>
  );
}

/** The source with what is special about it. */
function Source({ stack: { source, notes, unit } }: { stack: TakeoverStack }) {
  return (
    <>
      {unit === null ? <SourceText source={source} /> : "Unit of systemd"}
      {notes.map((note) => <p key={note} class="hint">{withBreaks(note)}</p>)}
    </>
  );
}

export const COLUMNS: readonly Column<TakeoverStack>[] = [
  {
    title: "Stack",
    cell: (stack) => (
      <>
        <span class="name cut">{plain(stack.name)}</span>
        {stack.manager !== null && <p class="hint">{plain(stack.manager)}</p>}
        <div class="narrow-only">
          <Source stack={stack} />
        </div>
      </>
    ),
    sort: ({ name }) => name,
  },
  {
    title: "Source",
    cell: (stack) => <Source stack={stack} />,
    sort: ({ source }) => source.path ?? source.kind,
    wide: true,
  },
  {
    title: "Containers",
    cell: ({ containers }) => (
      <span title={containers.map(plain).join("\n")}>{containers.length}</span>
    ),
    sort: ({ containers }) => containers.length,
    numeric: true,
    wide: true,
    width: "w-s",
  },
  {
    title: "Deploy",
    cell: ({ plan, candidates, unit }) => (
      <div class="wraps">
        {unit === null
          ? (
            <>
              <PlanText plan={plan} />
              {!plan && <Reason>{candidates.find(({ error }) => error)?.error}</Reason>}
            </>
          )
          : <Badge>Not taken over</Badge>}
      </div>
    ),
    sort: ({ plan }) => plan === null ? 2 : plan.changesNothing ? 0 : 1,
    width: "w-l",
  },
];
