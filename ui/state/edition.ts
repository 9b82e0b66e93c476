/** The edition of the license, read once for each session. @module */

import { signal } from "@preact/signals";
import { api } from "../api/client.ts";
import type { Edition } from "../api/types.ts";

export type EditionName = Edition["edition"];

const EDITIONS: readonly EditionName[] = ["ce", "pro", "enterprise"];

export const EDITION_NAMES = { ce: "Community", pro: "Pro", enterprise: "Enterprise" };

/** `undefined` until it is known. */
export const edition = signal<Edition | undefined>(undefined);

export async function readEdition(): Promise<void> {
  edition.value = await api("GET /api/edition");
}

/** Whether the license includes an edition; `undefined` until it is known. */
export function hasEdition(name: EditionName): boolean | undefined {
  if (name === "ce") return true;
  const current = edition.value?.edition;
  return current && EDITIONS.indexOf(current) >= EDITIONS.indexOf(name);
}
