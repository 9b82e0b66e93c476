/** The kinds of events, which the service lists. @module */

import { signal } from "@preact/signals";
import { api } from "../api/client.ts";
import type { EventKind } from "../api/types.ts";

/** `undefined` until they are known. */
export const eventKinds = signal<readonly EventKind[] | undefined>(undefined);

let reading: Promise<void> | undefined;

/** Reads them once, as a version of the service has the same ones. @throws {ApiError} */
export function readEventKinds(): Promise<void> {
  return reading ??= api("GET /api/events/kinds").then(
    ({ kinds }) => {
      eventKinds.value = kinds;
    },
    (error) => {
      reading = undefined;
      throw error;
    },
  );
}
