/**
 * The frame of `GET /api/feed` with the verdicts of a host about images, which its hub follows. It has
 * all of them each time, because they change seldom.
 *
 * @module
 */

import * as z from "zod";
import { shownText } from "../link/control.ts";
import { Digest, Platform } from "./block.ts";

/** Name of the frame. */
export const REPORT_EVENT = "verdicts";

/** Limits of a report: verdicts, containers that run a blocked image, lines of a log. */
export const VERDICTS_MAX = 100;
export const AFFECTED_MAX = 200;
export const LOG_LINES_MAX = 20;

const Name = shownText(255);

export const Report = z.object({
  /** Of its engine; `null` if that is not reachable. */
  platform: Platform.nullable(),
  verdicts: z.array(z.object({
    id: z.string().min(1).max(64),
    outcome: z.enum(["success", "failure"]),
    digest: Digest,
    platform: Platform,
    image: Name,
    container: Name,
    reason: shownText(512),
    /** The last lines of a container that failed, oldest first. */
    log: z.array(shownText(200)).max(LOG_LINES_MAX),
    /** `gone`: the container does not run the image any more. */
    state: z.enum(["well", "unwell", "gone"]),
  })).max(VERDICTS_MAX),
  /** Containers that run an image which the fleet has blocked. */
  affected: z.array(z.object({
    digest: Digest,
    container: Name,
    /** Whether the image before its last update is kept. */
    canGoBack: z.boolean(),
  })).max(AFFECTED_MAX),
});

export type Report = z.output<typeof Report>;
export type ReportedVerdict = Report["verdicts"][number];
