/** A month of snapshots: what each day has. @module */

import { useSignal } from "@preact/signals";
import type { BackupSnapshot } from "../../api/types.ts";
import { count, plain } from "../../base/text.ts";
import { dayOf, monthOf, weeksOf } from "../../base/month.ts";
import { Button } from "../../components/button.tsx";
import { addStyles } from "../../components/styles.ts";
import { now } from "../../components/time.tsx";
import { href, setQuery } from "../../state/router.ts";
import { contentOf, reasonOf, snapshotPath } from "./snapshot_text.ts";
import styles from "./calendar.css" with { type: "text" };

addStyles(styles);

/** Snapshots that a day names; the others are counted. */
const SHOWN_MAX = 3;

/** By the calendar and time zone of the browser. @param props.day The day that the list shows. */
export function Calendar({ snapshots, day }: {
  snapshots: readonly BackupSnapshot[];
  day: string | null;
}) {
  const today = dayOf(new Date(now.value));
  const month = useSignal(monthOf(day ?? today));
  const byDay = Map.groupBy(snapshots, ({ time }) => dayOf(new Date(time)));
  const { title, weeks, weekdays, previous, next } = weeksOf(month.value);
  return (
    <section class="calendar" aria-label={`Snapshots in ${title}`}>
      <header>
        <h2>{title}</h2>
        <Button onClick={() => month.value = previous}>Previous month</Button>
        <Button onClick={() => month.value = next} disabled={next > monthOf(today)}>
          Next month
        </Button>
      </header>
      <table>
        <thead>
          <tr>
            {weekdays.map((name) => <th key={name} scope="col">{name}</th>)}
          </tr>
        </thead>
        <tbody>
          {weeks.map((week) => (
            <tr key={week.find(Boolean)}>
              {week.map((each, at) =>
                each === undefined ? <td key={at} /> : (
                  <Day
                    key={at}
                    day={each}
                    month={title}
                    isToday={each === today}
                    isChosen={each === day}
                    snapshots={byDay.get(each) ?? []}
                  />
                )
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Day({ day, month, isToday, isChosen, snapshots }: {
  day: string;
  month: string;
  isToday: boolean;
  isChosen: boolean;
  snapshots: readonly BackupSnapshot[];
}) {
  const number = Number(day.slice(-2));
  const chosen = [isToday && "today", isChosen && "chosen"].filter(Boolean).join(" ");
  if (snapshots.length === 0) {
    return (
      <td class={chosen || undefined} aria-current={isToday ? "date" : undefined}>{number}</td>
    );
  }
  const hidden = snapshots.length - SHOWN_MAX;
  return (
    <td class={`full ${chosen}`} aria-current={isToday ? "date" : undefined}>
      <button
        type="button"
        class="day"
        aria-pressed={isChosen}
        aria-label={`${number} ${month}: ${count(snapshots.length, "snapshot")}`}
        onClick={() => setQuery({ day: isChosen ? undefined : day })}
      >
        {number}
      </button>
      <span class="number" aria-hidden="true">{snapshots.length}</span>
      <ul>
        {snapshots.slice(0, SHOWN_MAX).map((each) => (
          <li key={`${each.id} ${each.target}`}>
            <a
              class="cut"
              href={href(snapshotPath(each))}
              title={plain(`${contentOf(each)}, ${reasonOf(each)}, ${each.target}`)}
            >
              {plain(contentOf(each))}
            </a>
          </li>
        ))}
        {hidden > 0 && <li class="muted">and {hidden} more</li>}
      </ul>
    </td>
  );
}
