/** Answers of a host about requests that were left for it. @module */

import * as z from "zod";
import { shownText } from "../link/control.ts";

/**
 * - `running`: the host has it, and it has not ended
 * - `succeeded`, `failed`: it has ended
 * - `refused`: nothing was done
 */
export const BOX_STATES = ["running", "succeeded", "failed", "refused"] as const;

const Answer = z.object({
  state: z.enum(BOX_STATES),
  jobId: shownText(100).nullable(),
  error: shownText(1_000).nullable(),
});
const Refusal = z.object({ error: shownText(1_000) });

export type BoxAnswer = z.output<typeof Answer>;

/** @returns `undefined` for another value. */
export const parseAnswer = (body: unknown): BoxAnswer | undefined => Answer.safeParse(body).data;

/** The error of a host that refuses; `undefined` for another value. */
export const parseRefusal = (body: unknown): string | undefined =>
  Refusal.safeParse(body).data?.error;
