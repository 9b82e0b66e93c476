/** Containers: the table of all, with filters, groups and actions. @module */

import { useMemo } from "preact/hooks";
import { computed, signal, useSignal } from "@preact/signals";
import type { Container } from "../../api/types.ts";
import { Button } from "../../components/button.tsx";
import { useDialog } from "../../components/dialog.tsx";
import { Menu, type MenuItem } from "../../components/menu.tsx";
import { Icon } from "../../components/icon.tsx";
import { Page } from "../../components/page.tsx";
import { Empty, NoMatch } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { sortRows } from "../../components/table_lines.ts";
import { capital, count } from "../../base/text.ts";
import { ACTIONS, actionsFor, mayRun, runAction, runOnAll } from "../../state/container_actions.ts";
import { containers, healthOf, isRestarting, isStopped, stackOf } from "../../state/live.ts";
import { navigate, query, setQuery } from "../../state/router.ts";
import { hasRole } from "../../state/session.ts";
import { GeneratedDialog } from "../stacks/generated.tsx";
import { UpdateDialog } from "../updates/plan_dialog.tsx";
import { cannotBeRead, UnknownContainers } from "../../parts/unknown_containers.tsx";
import { COLUMNS, GROUP } from "./columns.tsx";
import { removeContainer } from "./removal.ts";
import { useUpdateMarks } from "./update_marks.ts";

const STATES = ["created", "running", "paused", "restarting", "removing", "exited", "dead"];

const HIDDEN_KEY = "containers.hidden";

/** Titles of the columns that the user has turned off. */
const hidden = signal<readonly string[]>(readHidden());

const DEFAULT_SORT = "name";

/** In the order of the table, which neither a visit of the page nor a filter changes. */
const sorted = computed(() =>
  containers.value && sortRows(containers.value, COLUMNS, DEFAULT_SORT)
);

export default function Containers() {
  useUpdateMarks();
  const all = sorted.value;
  const params = query.value;
  const q = params.get("q") ?? "";
  const state = params.get("state") ?? "";
  const health = params.get("health") ?? "";
  const isGrouped = params.get("group") === "stack";
  const selected = useSignal<ReadonlySet<string>>(new Set());

  const rows = useMemo(() => filter(all ?? [], { q, state, health }), [all, q, state, health]);
  const columns = useMemo(
    () => COLUMNS.filter(({ title }) => !hidden.value.includes(title)),
    [hidden.value],
  );
  const dialog = useDialog();
  const actions = useMemo(() => (row: Container) => menuOf(row, dialog), []);
  const isFiltered = q !== "" || state !== "" || health !== "";
  const total = all?.length ?? 0;
  const summary = isFiltered
    ? `${rows.length.toLocaleString("en")} of ${count(total, "container")}`
    : count(total, "container");
  const clear = () => setQuery({ q: undefined, state: undefined, health: undefined });
  return (
    <Page
      title="Containers"
      lead={all && <span class="summary" role="status" aria-label={summary}>{summary}</span>}
    >
      <div class="filters" role="search" aria-label="Filters">
        <input
          type="search"
          aria-label="Filter containers"
          placeholder="Name, image, stack or label"
          value={q}
          onInput={(event) => setQuery({ q: event.currentTarget.value })}
        />
        <select
          aria-label="State"
          value={state}
          onChange={(event) => setQuery({ state: event.currentTarget.value })}
        >
          <option value="">All states</option>
          <option value="stopped">Not running</option>
          {STATES.map((each) => <option key={each} value={each}>{capital(each)}</option>)}
        </select>
        {health !== "" && (
          <Button icon="cross" onClick={() => setQuery({ health: undefined })}>
            {capital(health)}
          </Button>
        )}
        <label class="check">
          <input
            type="checkbox"
            checked={isGrouped}
            onChange={({ currentTarget: { checked } }) =>
              setQuery({ group: checked ? "stack" : undefined })}
          />
          Group by stack
        </label>
        <Menu name="Columns" items={columnItems}>
          <Icon name="columns" />
          Columns
        </Menu>
      </div>
      <Selection selected={selected.value} onDone={() => selected.value = new Set()} />
      {!all && cannotBeRead()
        ? <UnknownContainers name="Containers" />
        : all && rows.length === 0
        ? total === 0
          ? (
            <Empty>
              There are no containers on this host yet. Start one and it appears here by itself.
            </Empty>
          )
          : <NoMatch things="containers" onClear={clear} />
        : (
          <Table
            name="Containers"
            columns={columns}
            rows={rows}
            keyOf={idOf}
            nameOf={nameOf}
            actions={actions}
            isTwoLines
            {...(canUseSelection() && { selected })}
            groupOf={isGrouped ? stackOf : undefined}
            busy={!all}
            defaultSort={DEFAULT_SORT}
            isSorted
          />
        )}
      {dialog.shown}
    </Page>
  );
}

const canReadSources = () => hasRole("operator", "stack_sources:read");

/** Whether there is anything that the user may do with selected containers. */
const canUseSelection = (): boolean =>
  (["start", "stop", "restart"] as const).some(mayRun) || canReadSources();

function Selection({ selected, onDone }: { selected: ReadonlySet<string>; onDone: () => void }) {
  const isGenerating = useSignal(false);
  if (selected.size === 0) return null;
  const run = async (action: keyof typeof ACTIONS) => {
    await runOnAll([...selected], action);
    onDone();
  };
  return (
    <div class="selection" role="toolbar" aria-label="Selected containers">
      <span>{selected.size} selected</span>
      {mayRun("start") && <Button icon="play" onClick={() => void run("start")}>Start</Button>}
      {mayRun("stop") && <Button icon="stop" onClick={() => void run("stop")}>Stop</Button>}
      {mayRun("restart") && (
        <Button icon="restart" onClick={() => void run("restart")}>Restart</Button>
      )}
      {canReadSources() && (
        <Button
          icon="stack"
          onClick={() => isGenerating.value = true}
        >
          Generate
        </Button>
      )}
      <Button kind="quiet" onClick={onDone}>Clear selection</Button>
      {isGenerating.value && (
        <GeneratedDialog
          containers={[...selected]}
          onClose={() => isGenerating.value = false}
        />
      )}
    </div>
  );
}

const idOf = ({ id }: Container) => id;
const nameOf = ({ name }: Container) => name;

/** The menu of a row: what people look for in a container, then what changes it. */
function menuOf(container: Container, dialog: ReturnType<typeof useDialog>): MenuItem[] {
  const { id, state, self } = container;
  const open = (tab: string) => () => navigate(`/containers/${id.slice(0, 12)}/${tab}`);
  const items: MenuItem[] = [{ name: "Logs", onSelect: open("logs") }];
  if (state === "running" && hasRole("admin")) {
    items.push({ name: "Terminal", onSelect: open("terminal") });
  }
  if (!self && hasRole("operator", "containers:update")) {
    items.push({ name: "Update", onSelect: () => dialog.open(UpdateDialog, { container }) });
  }
  // To restart is more usual than to stop, and harms less.
  for (const action of actionsFor(container).toReversed()) {
    const run = () => void runAction(container, action);
    items.push({ name: ACTIONS[action].verb, onSelect: run });
  }
  if (!self && hasRole("admin", "containers:delete")) {
    items.push({ name: "Remove", danger: true, onSelect: () => void removeContainer(container) });
  }
  return items;
}

const columnItems = (): MenuItem[] =>
  COLUMNS.slice(1).map(({ title }) => ({
    name: title,
    checked: !hidden.value.includes(title),
    onSelect: () => {
      hidden.value = hidden.value.includes(title)
        ? hidden.value.filter((each) => each !== title)
        : [...hidden.value, title];
      storeHidden(hidden.value);
    },
  }));

/** Searched text, by container; a frame of the stream brings new objects. */
const haystacks = new WeakMap<Container, string>();

function haystackOf(container: Container): string {
  let text = haystacks.get(container);
  if (text === undefined) {
    const { name, id, image, composeProject, labels } = container;
    const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
    text = [name, id.slice(0, 12), image, composeProject, ...pairs].join("\n").toLowerCase();
    haystacks.set(container, text);
  }
  return text;
}

/** As the overview counts them; every other state is the engine's word. */
function isIn(container: Container, state: string): boolean {
  if (state === "stopped") return isStopped(container);
  if (state === "restarting") return isRestarting(container);
  return container.state === state && !(state === "running" && container.crashLooping);
}

function filter(
  all: readonly Container[],
  { q, state, health }: { q: string; state: string; health: string },
): readonly Container[] {
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  return all.filter((container) =>
    (state === "" || isIn(container, state)) &&
    (health === "" || healthOf(container) === health) &&
    words.every((word) => haystackOf(container).includes(word))
  );
}

function readHidden(): string[] {
  try {
    const titles: unknown = JSON.parse(localStorage.getItem(HIDDEN_KEY) ?? JSON.stringify([GROUP]));
    return Array.isArray(titles) ? titles.filter((title) => typeof title === "string") : [];
  } catch {
    return [GROUP]; // Storage is turned off, or something else wrote there.
  }
}

function storeHidden(titles: readonly string[]): void {
  try {
    localStorage.setItem(HIDDEN_KEY, JSON.stringify(titles));
  } catch { /* Storage is turned off in this browser. */ }
}
