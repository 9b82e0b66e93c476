/** The settings of image updates. The environment wins over what is stored. @module */

import { selectSetting, upsertSetting } from "../../db/settings.ts";
import { applyChange, type Change } from "../change.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import type { DataChoice } from "./labels.ts";
import { normalizeWindow, type UpdateWindow } from "./window.ts";

export { INTERVAL_HOURS } from "../config/variables.ts";

/** The policy of containers whose labels have none. */
export const DEFAULT_POLICIES = ["notify", "auto"] as const;

export interface UpdateSettings {
  /** Whether images are checked periodically. */
  enabled: boolean;
  intervalHours: number;
  policy: typeof DEFAULT_POLICIES[number];
  /** Age of a digest before it is applied automatically, from when it was first seen. */
  minimumAgeHours: number;
  /** Time for which the image before an update is kept. */
  keepPreviousDays: number;
  /** Time that an updated container without a health check has to run. */
  stableSeconds: number;
  /** Data of an update that fails, for containers whose labels do not say it. */
  data: DataChoice;
  /** Whether updates are rehearsed on a copy before, unless a label or request says otherwise. */
  rehearse: boolean;
  /** When containers may be updated automatically; never if empty. */
  windows: UpdateWindow[];
}

/** The settings that the environment can fix, by variable. */
const FIXED_BY = {
  UPDATE_CHECK: "enabled",
  UPDATE_CHECK_INTERVAL_HOURS: "intervalHours",
} as const;
export const FIXED_FIELDS = Object.values(FIXED_BY);

/** The settings as they apply. */
export interface AppliedSettings extends UpdateSettings {
  /** Fields that the environment sets, so that they cannot be changed. */
  fixed: (typeof FIXED_FIELDS)[number][];
}

const SETTING = "updates";

const DEFAULTS: UpdateSettings = {
  enabled: false,
  intervalHours: 6,
  policy: "notify",
  minimumAgeHours: 72,
  keepPreviousDays: 7,
  stableSeconds: 60,
  data: "keep",
  rehearse: false,
  windows: [],
};

export function readUpdateSettings({ config, db }: Pick<Deps, "config" | "db">): AppliedSettings {
  const environment = fromEnvironment(config);
  return {
    ...storedSettings(db),
    ...environment,
    fixed: FIXED_FIELDS.filter((field) => Object.hasOwn(environment, field)),
  };
}

/**
 * Changes the settings; omitted fields keep their values.
 *
 * @throws {AppError} `invalid` for an invalid window; `conflict` for another value of a field that
 * the environment sets.
 */
export function changeUpdateSettings(
  deps: Pick<Deps, "config" | "db">,
  change: Change<UpdateSettings>,
): AppliedSettings {
  const { config, db } = deps;
  const environment = fromEnvironment(config);
  for (const [variable, field] of Object.entries(FIXED_BY)) {
    const fixed = environment[field];
    if (fixed !== undefined && change[field] !== undefined && change[field] !== fixed) {
      throw new AppError("conflict", `body.${field}: is set to ${fixed} by ${variable}`);
    }
  }
  const windows = change.windows?.map((window, at) =>
    normalizeWindow(window, `body.windows.${at}`)
  );
  const changed = applyChange(storedSettings(db), { ...change, windows });
  upsertSetting(db, SETTING, JSON.stringify(changed));
  return readUpdateSettings(deps);
}

function storedSettings(db: Deps["db"]): UpdateSettings {
  const text = selectSetting(db, SETTING);
  return text === undefined ? DEFAULTS : { ...DEFAULTS, ...JSON.parse(text) };
}

function fromEnvironment(
  { updateCheck, updateCheckIntervalHours }: Deps["config"],
): Partial<Pick<UpdateSettings, (typeof FIXED_FIELDS)[number]>> {
  return {
    ...(updateCheck !== null && { enabled: updateCheck === "on" }),
    ...(updateCheckIntervalHours !== null && { intervalHours: updateCheckIntervalHours }),
  };
}
