/**
 * Texts of cells that can be too long for one line.
 *
 * @module
 */

import { plain } from "../../components/text.ts";

/** A path or an image: what does not fit is cut at its start, because its end matters most. */
export function PathText({ children }: { children: string }) {
  const text = plain(children);
  // The direction chooses the side that is cut; the text itself has its own.
  return (
    <span class="cut" dir="rtl">
      <bdi title={text}>{text}</bdi>
    </span>
  );
}

/** The whole text, on several lines if needed. In a table whose rows have one height, it is cut. */
export function WholeText({ children }: { children: string }) {
  const text = plain(children);
  return <span class="cut breaks" title={text}>{text}</span>;
}
