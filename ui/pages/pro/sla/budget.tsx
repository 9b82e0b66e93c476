/** Remaining error budget. @module */

import type { SlaBudget } from "../../../api/types.ts";
import { Meter } from "../../../components/states.tsx";
import { addStyles } from "../../../components/styles.ts";
import styles from "./budget.css" with { type: "text" };

addStyles(styles);

export function BudgetLeft({ budget }: { budget: SlaBudget }) {
  const left = Math.round(budget.remaining_percentage);
  const text = budget.is_breached ? "Breached" : `${left} %, ${minutes(budget.remaining_minutes)}`;
  return (
    <div class={budget.is_breached ? "budget breached" : "budget"}>
      <Meter name="Budget left" value={left} text={`${left} %`} isLeft />
      <span>{text}</span>
    </div>
  );
}

/** E.g. `43 min`, `-12 min`, `8.6 h`. */
export function minutes(value: number): string {
  const size = Math.abs(value);
  if (size >= 120) return `${Math.round(value / 6) / 10} h`;
  return size < 10 ? `${Math.round(value * 10) / 10} min` : `${Math.round(value)} min`;
}
