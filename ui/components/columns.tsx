/** Columns of tables, and those that many tables have. @module */

import type { ComponentChildren, CSSProperties } from "preact";
import { href } from "../state/router.ts";
import { hasRole } from "../state/session.ts";
import { withResult } from "../state/toasts.ts";
import { Switch } from "./switch.tsx";
import { Text, toneOf } from "./states.tsx";
import { capital, plain } from "../base/text.ts";
import { Time } from "./time.tsx";

export interface Column<Row> {
  /** The header; also its name in `?sort=`, in lower case. */
  title: string;
  cell: (row: Row) => ComponentChildren;
  /** Makes it sortable. Rows without a value come last. */
  sort?: (row: Row) => string | number | null | undefined;
  /** Aligned to the right, with digits of equal width. */
  numeric?: boolean;
  /** Left out in narrow windows. */
  wide?: boolean;
  /** Stays on a phone, below the name: see `isTwoLines` of the table. */
  secondLine?: boolean;
  /** Class of the column's width; without one it shares what remains. */
  width?: "w-xs" | "w-s" | "w-m" | "w-l" | "w-name";
  /** Look of the cell itself, which saves an element in it: each one counts in a long table. */
  look?: (row: Row) => CellLook | undefined;
}

export interface CellLook {
  class?: string;
  /** `rtl` cuts what does not fit at its start. */
  dir?: "rtl";
  style?: CSSProperties;
}

/** A thin bar below the value. @param share From 0 to 1; `null` for no value. */
export function barLook(share: number | null): CellLook {
  if (share === null) return { class: "none" };
  const tone = share >= 0.9 ? " bad" : share >= 0.8 ? " warn" : "";
  return { class: `bar${tone}`, style: { "--share": Math.min(share, 1).toFixed(3) } };
}

/** Subject of a row. */
export function Name({ children }: { children: string }) {
  return (
    <span class="name-cell">
      <Text>{children}</Text>
    </span>
  );
}

export const NAME_COLUMN = {
  title: "Name",
  cell: ({ name }) => <Name>{name}</Name>,
  sort: ({ name }) => name,
} satisfies Column<{ name: string }>;

/** The name of each row, as a link to its page below `path`. */
export const linkColumn = (path: string): Column<{ id: string; name: string }> => ({
  ...NAME_COLUMN,
  cell: ({ id, name }) => (
    <span class="name-cell">
      <a class="cut" href={href(`${path}/${id}`)}>{plain(name)}</a>
    </span>
  ),
});

/** Texts in the order of the alphabet; `null` is a dash. */
export const textColumn = <Row,>(
  title: string,
  textOf: (row: Row) => string | null,
  more?: Partial<Column<Row>>,
): Column<Row> => ({
  title,
  cell: (row) => plain(textOf(row) ?? "–"),
  look: (row) => ({ class: textOf(row) === null ? "none" : "cut" }),
  sort: textOf,
  ...more,
});

/** A state with its dot; `null` is a dash. */
export const stateColumn = <Row,>(
  title: string,
  stateOf: (row: Row) => string | null,
  more?: Partial<Column<Row>>,
): Column<Row> => ({
  title,
  cell: (row) => capital(stateOf(row) ?? "–"),
  look: (row) => {
    const state = stateOf(row);
    return { class: state === null ? "none" : `state ${toneOf(state)}` };
  },
  sort: stateOf,
  ...more,
});

/** Times, as long as they are ago. */
export const timeColumn = <Row,>(
  title: string,
  timeOf: (row: Row) => string | null,
  more?: Partial<Column<Row>>,
): Column<Row> => ({
  title,
  // Called as a function, because a component costs as much as its elements.
  cell: (row) => Time({ at: timeOf(row) }),
  sort: timeOf,
  ...more,
});

/** Numbers as `format` shows them. */
export const numberColumn = <Row,>(
  title: string,
  valueOf: (row: Row) => number | null | undefined,
  format: (value: number | null | undefined) => string,
  more?: Partial<Column<Row>>,
): Column<Row> => ({
  title,
  cell: (row) => format(valueOf(row)),
  sort: valueOf,
  numeric: true,
  ...more,
});

/** The switch "Enable <name>" of each row, for those who may `write`. */
export const enabledColumn = <Row,>(
  write: Parameters<typeof hasRole>,
  nameOf: (row: Row) => string,
  enable: (row: Row, enabled: boolean) => Promise<unknown>,
  onDone: () => void,
): Column<Row> => {
  const isEnabled = (row: Row) => (row as { enabled: boolean }).enabled;
  return {
    title: "Enabled",
    cell: (row) => (
      <EnableSwitch
        name={nameOf(row)}
        checked={isEnabled(row)}
        disabled={!hasRole(...write)}
        enable={(enabled) => enable(row, enabled)}
        onDone={onDone}
      />
    ),
    sort: (row) => Number(isEnabled(row)),
    width: "w-xs",
  };
};

interface SwitchProps {
  name: string;
  checked: boolean;
  disabled?: boolean;
  enable: (enabled: boolean) => Promise<unknown>;
  /** Called after a failure, too: reads what the switch shows. */
  onDone: () => void;
}

function EnableSwitch({ name, enable, onDone, ...state }: SwitchProps) {
  const shown = plain(name);
  const set = (enabled: boolean) =>
    void withResult(`${enabled ? "Enabled" : "Disabled"} ${shown}`, () => enable(enabled))
      .then(onDone);
  return <Switch name={`Enable ${shown}`} {...state} onChange={set} />;
}

/** The switch "Enable <name>", and the state in words. */
export function SwitchCell(props: SwitchProps) {
  return (
    <span class="switch-cell">
      <EnableSwitch {...props} />
      {props.checked ? "Enabled" : "Disabled"}
    </span>
  );
}
