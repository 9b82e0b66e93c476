/** Texts of cells that can be too long for one line. @module */

import { plain } from "../../base/text.ts";

/** A path or an image: what does not fit is cut at its start, because its end matters most. */
export function PathText({ children }: { children: string }) {
  // The direction chooses the side that is cut; the text itself has its own.
  return (
    <span class="cut" dir="rtl">
      <bdi>{plain(children)}</bdi>
    </span>
  );
}

/** The whole text, on several lines if needed: nothing can be hovered over on a phone. */
export const WholeText = ({ children }: { children: string }) => (
  <span class="cut breaks">{plain(children)}</span>
);
