/** Short messages about results. @module */

import { signal } from "@preact/signals";
import { ApiError } from "../api/client.ts";

export interface Toast {
  id: number;
  kind: "status" | "alert";
  text: string;
}

export const toasts = signal<readonly Toast[]>([]);

/** Time for which a success stays, in milliseconds. Failures stay until they are dismissed. */
const SHOWN_MS = 6_000;

const TOASTS_MAX = 4;

let last = 0;

export function showStatus(text: string): void {
  const id = show("status", text);
  setTimeout(() => dismiss(id), SHOWN_MS);
}

export function showAlert(text: string): void {
  show("alert", text);
}

export function dismiss(id: number): void {
  toasts.value = toasts.peek().filter((toast) => toast.id !== id);
}

function show(kind: Toast["kind"], text: string): number {
  toasts.value = [...toasts.peek(), { id: ++last, kind, text }].slice(-TOASTS_MAX);
  return last;
}

/** The sentence of a failure. */
export const sentenceOf = (error: unknown): string =>
  error instanceof ApiError ? error.message : `Unexpected problem: ${(error as Error).message}`;

/** Does something and shows its result, or why it failed. @returns Whether it succeeded. */
export async function withResult(text: string, work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    showStatus(text);
    return true;
  } catch (error) {
    showAlert(sentenceOf(error));
    return false;
  }
}
