/** Captions of containers for people, from their labels. @module */

import type { Container } from "./inventory.ts";
import { iconOf } from "./icons.ts";

export interface Caption {
  /** Id of an icon, see `icons.ts`; one that labels name may not have been uploaded. */
  icon: string | null;
  /** E.g. `Monitoring`. */
  group: string | null;
  /** One line. */
  description: string | null;
}

/** Limits in characters. */
const GROUP_MAX = 60;
const DESCRIPTION_MAX = 200;

/** The labels of a container do not change, and each list asks for them. */
const known = new WeakMap<Container["labels"], Caption>();

/** Longshore's own labels come before those of the start page Homepage. */
export function captionOf({ labels }: Pick<Container, "labels">): Caption {
  let caption = known.get(labels);
  if (!caption) {
    const text = (name: string, max: number) =>
      lineOf(labels[`longshore.${name}`], max) ?? lineOf(labels[`homepage.${name}`], max);
    caption = {
      icon: iconOf(labels)?.id ?? null,
      group: text("group", GROUP_MAX),
      description: text("description", DESCRIPTION_MAX),
    };
    known.set(labels, caption);
  }
  return caption;
}

/** A text as one line, cut at `max` characters; `null` for an empty one. */
function lineOf(text: string | undefined, max: number): string | null {
  // Four times as much, because spaces in a row become one.
  const line = (text ?? "").slice(0, 4 * max).replace(/[\s\p{Cc}]+/gu, " ").trim();
  if (line === "") return null;
  return line.length > max ? `${line.slice(0, max - 1).toWellFormed()}…` : line.toWellFormed();
}
