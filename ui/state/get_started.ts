/** Whether the overview shows the first steps, which the server keeps for all admins. @module */

import { signal } from "@preact/signals";
import { api } from "../api/client.ts";

/** `undefined` until it is known. */
export const isGetStartedShown = signal<boolean | undefined>(undefined);

export async function showGetStarted(shown: boolean): Promise<void> {
  await api("PUT /api/setup/guide", { body: { shown } });
  isGetStartedShown.value = shown;
}
