/** The search field of a list, which keeps its words in `?q=`. @module */

import { useMemo } from "preact/hooks";
import { query, setQuery } from "../state/router.ts";
import { count, plain } from "../base/text.ts";

export function SearchField({ name, placeholder }: { name: string; placeholder: string }) {
  return (
    <input
      type="search"
      aria-label={name}
      placeholder={placeholder}
      value={query.value.get("q") ?? ""}
      onInput={(event) => setQuery({ q: event.currentTarget.value, offset: undefined })}
    />
  );
}

/** Keeps one of several values in the query; the address without it means all. */
export function QuerySelect({ name, param, all, options }: {
  name: string;
  param: string;
  all: string;
  options: readonly { value: string; name: string }[];
}) {
  return (
    <select
      aria-label={name}
      value={query.value.get(param) ?? ""}
      onChange={(event) => setQuery({ [param]: event.currentTarget.value, offset: undefined })}
    >
      <option value="">{all}</option>
      {options.map(({ value, name }) => <option key={value} value={value}>{plain(name)}</option>)}
    </select>
  );
}

/**
 * The rows that contain every word of the search.
 *
 * @param textOf The text that is searched; a function of the module, not of a component. Without it,
 * all rows.
 */
export function useSearch<Row>(
  rows: readonly Row[] | undefined,
  textOf: ((row: Row) => string) | undefined,
): readonly Row[] | undefined {
  const q = query.value.get("q") ?? "";
  return useMemo(() => {
    if (!textOf) return rows;
    const words = q.toLowerCase().split(/\s+/).filter(Boolean);
    return rows?.filter((row) => {
      const text = textOf(row).toLowerCase();
      return words.every((word) => text.includes(word));
    });
  }, [rows, q, textOf]);
}

/** The search of the page, for the text about a list of which it leaves nothing. */
export const searchFilter = (things: string) =>
  query.value.get("q") ? { things, onClear: () => setQuery({ q: undefined }) } : undefined;

/** E.g. `12 images`, or `2 of 12 images` while a search is on. */
export function Summary({ shown, total, noun }: { shown: number; total: number; noun: string }) {
  const all = count(total, noun);
  const text = query.value.get("q") ? `${shown.toLocaleString("en")} of ${all}` : all;
  return <span class="summary" role="status" aria-label={text}>{text}</span>;
}
