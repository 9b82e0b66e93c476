/**
 * The command palette and the list of shortcuts, which are loaded when they are needed first.
 *
 * @module
 */

import { signal } from "@preact/signals";
import type { ComponentType } from "preact";
import { LISTED, mayOpen } from "../pages/mod.ts";
import { type OverlayProps, PLACES } from "./places.ts";
import { reloadIfReachable } from "./reload.ts";

type Overlay = ComponentType<OverlayProps>;

const open = signal<Overlay | undefined>(undefined);

export const loadPalette = () => import("./palette.tsx");

export const openPalette = () => show(loadPalette());

export const openShortcuts = () => show(import("./shortcut_list.tsx"));

function show(loading: Promise<{ default: Overlay }>): void {
  loading.then((module) => open.value = module.default).catch(reloadIfReachable);
}

/** The open one. */
export function Overlays() {
  const Body = open.value;
  const close = () => void (open.value = undefined);
  const pages = LISTED.filter(([, info]) => mayOpen(info));
  return Body ? <Body pages={pages} places={PLACES} onClose={close} /> : null;
}
