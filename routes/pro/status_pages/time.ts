/** Times on a status page, in UTC. A script converts them to the visitor's time zone. @module */

import { type Markup, markup } from "../../html/markup.ts";

/** Runs at the end of the page, allowed by its hash. */
export const LOCAL_TIMES = `for(const time of document.querySelectorAll("time")){
const at=new Date(time.dateTime);
time.title=time.textContent;
time.textContent=at.toLocaleString("en",{dateStyle:"medium",timeStyle:"short"});
}
const zone=Intl.DateTimeFormat().resolvedOptions().timeZone;
document.getElementById("zone").textContent="Times are in your time zone"+(zone?" ("+zone+").":".");`;

/** E.g. `31 Jan 2026, 12:00 UTC`. */
export function time(at: string): Markup {
  return markup`<time datetime="${at}">${dayText(at)}, ${at.slice(11, 16)} UTC</time>`;
}

/** E.g. `31 Jan 2026`, of a date or a time. */
export function dayText(at: string): string {
  const [year, month, day] = at.slice(0, 10).split("-");
  return `${Number(day)} ${MONTHS[Number(month) - 1]!} ${year!}`;
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
