/**
 * /api/updates/settings: when images are checked, and which containers are updated automatically.
 *
 * @module
 */

import * as z from "zod";
import { CRON_LENGTH_MAX } from "../../services/input/cron.ts";
import {
  changeUpdateSettings,
  DEFAULT_POLICIES,
  FIXED_FIELDS,
  INTERVAL_HOURS,
  readUpdateSettings,
} from "../../services/updates/settings.ts";
import { DATA_CHOICES } from "../../services/updates/labels.ts";
import { WINDOW_MINUTES } from "../../services/updates/window.ts";
import { assertMayCause } from "../../services/access/caller.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";

const WINDOWS_MAX = 20;

const Window = z.strictObject({
  cron: z.string().min(1).max(CRON_LENGTH_MAX).meta({
    description: "When it opens: five fields, as for schedules",
    example: "0 3 * * sat",
  }),
  timeZone: z.string().min(1).max(100).meta({
    description: "IANA name",
    example: "Europe/Berlin",
  }),
  durationMinutes: z.int().min(WINDOW_MINUTES.min).max(WINDOW_MINUTES.max),
}).meta({ id: "UpdateWindow" });

const fields = {
  enabled: z.boolean().meta({ description: "Whether images are checked periodically" }),
  intervalHours: z.int().min(INTERVAL_HOURS.min).max(INTERVAL_HOURS.max).meta({
    description: "Time between two checks of an image; varied by up to 10 percent",
  }),
  policy: z.enum(DEFAULT_POLICIES).meta({
    description: "For containers without a policy in their labels. `auto` applies updates in a " +
      "window; `notify` only reports them",
  }),
  minimumAgeHours: z.int().min(0).max(8_760).meta({
    description: "An image is applied automatically when it was first seen this long ago",
  }),
  keepPreviousDays: z.int().min(0).max(365).meta({
    description: "How long the image before an update is kept for a rollback",
  }),
  stableSeconds: z.int().min(5).max(3_600).meta({
    description: "How long an updated container without a health check must run",
  }),
  data: z.enum(DATA_CHOICES).meta({
    description:
      "For containers without the label `longshore.update.data`. `undo` brings the data " +
      "of their volumes back if an update fails; `keep` leaves it as the new version wrote it",
  }),
  rehearse: z.boolean().meta({
    description: "Whether updates are rehearsed on a copy of the data before, unless the request " +
      "or the label `longshore.update.rehearse` says otherwise",
  }),
  windows: z.array(Window).max(WINDOWS_MAX).meta({
    description: "When containers may be updated automatically; never if empty",
  }),
};

const EXAMPLE = {
  enabled: true,
  intervalHours: 6,
  policy: "notify",
  minimumAgeHours: 72,
  keepPreviousDays: 7,
  stableSeconds: 60,
  data: "undo",
  rehearse: false,
  windows: [{ cron: "0 3 * * sat", timeZone: "Europe/Berlin", durationMinutes: 120 }],
};

const Settings = z.object({
  ...fields,
  fixed: z.array(z.enum(FIXED_FIELDS)).meta({
    description: "Fields that `UPDATE_CHECK` and `UPDATE_CHECK_INTERVAL_HOURS` set",
  }),
}).meta({ id: "UpdateSettings", example: { ...EXAMPLE, fixed: [] } });

export const updateSettingsEndpoints = (deps: Deps) => [
  endpoint("GET /api/updates/settings", {
    operationId: "getUpdateSettings",
    summary: "Get update settings",
    role: "admin",
    permission: "settings:read",
    returns: Settings,
  }, () => readUpdateSettings(deps)),

  endpoint("PUT /api/updates/settings", {
    operationId: "updateUpdateSettings",
    summary: "Change update settings",
    description: "Omitted fields keep their values; `windows` are replaced as a whole. Enabled, " +
      "the service asks the registries of all images in use, within a minute and then " +
      "periodically. The policy `auto` and windows require `containers:update` as well.",
    role: "admin",
    permission: "settings:write",
    body: z.object(fields).partial().meta({ id: "UpdateSettingsChanges", example: EXAMPLE }),
    returns: Settings,
    failures: { 409: "The environment sets a field to another value" },
  }, ({ body, caller }) => {
    if (body.policy === "auto" || body.windows?.length) assertMayCause(caller, "update");
    return changeUpdateSettings(deps, body);
  }),
];
