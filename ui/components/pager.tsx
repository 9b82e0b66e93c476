/**
 * Leads through the pages of a long list, whose position is in the address (`?offset=`).
 *
 * @module
 */

import { query, setQuery } from "../state/router.ts";
import { Button } from "./button.tsx";
import { addStyles } from "./styles.ts";
import styles from "./pager.css" with { type: "text" };

addStyles(styles);

/** Number of entries to skip, from the address. */
export const offsetOf = (): number =>
  Math.max(0, Math.trunc(Number(query.value.get("offset"))) || 0);

/** @param props.words Names of the buttons; those of lists that begin with the newest without it. */
export function Pager({ total, limit, offset, words: [before, after] = ["Newer", "Older"] }: {
  total: number;
  limit: number;
  offset: number;
  words?: readonly [string, string];
}) {
  if (offset === 0 && total <= limit) return null;
  const go = (to: number) => {
    setQuery({ offset: to > 0 ? String(to) : undefined });
    scrollTo(0, 0);
  };
  const shown = [offset + 1, Math.min(total, offset + limit)].map((n) => n.toLocaleString("en"));
  return (
    <nav class="pager" aria-label="Pages">
      <Button disabled={offset === 0} onClick={() => go(offset - limit)}>{before}</Button>
      <span class="summary">{shown.join("–")} of {total.toLocaleString("en")}</span>
      <Button disabled={offset + limit >= total} onClick={() => go(offset + limit)}>{after}</Button>
    </nav>
  );
}
