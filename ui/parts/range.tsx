/** The time range of charts, which is in the address (`?range=24h`). @module */

import { query, setQuery } from "../state/router.ts";
import { RANGES } from "./history.ts";

type Range = (typeof RANGES)[number];

/** One hour, unless the address has another one. */
export const currentRange = (): Range =>
  RANGES.find(({ value }) => value === query.value.get("range")) ?? RANGES[1];

/** E.g. `last hour`. */
export const rangeText = ({ name }: Range): string => `last ${name.replace(/^1 /, "")}`;

export function RangeFilter() {
  return (
    <div class="filters">
      <label>
        Time range
        <select
          aria-label="Time range"
          value={currentRange().value}
          onChange={(event) => setQuery({ range: event.currentTarget.value })}
        >
          {RANGES.map(({ value, name }) => <option key={value} value={value}>{name}</option>)}
        </select>
      </label>
    </div>
  );
}
