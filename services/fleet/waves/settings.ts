/** The order of waves: a setting of the hub. @module */

import { selectSetting, upsertSetting } from "../../../db/settings.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import type { WaveSettings } from "./decide.ts";

const SETTING = "fleet_waves";

const DEFAULTS: WaveSettings = { waves: [], hosts: 1, soakHours: 24 };

const HOUR_MS = 60 * 60 * 1000;

export function readWaveSettings({ db }: Pick<Deps, "db">): WaveSettings {
  const stored = selectSetting(db, SETTING);
  return stored === undefined ? DEFAULTS : { ...DEFAULTS, ...JSON.parse(stored) };
}

/** Omitted fields keep their values. */
export function changeWaveSettings(
  { db }: Pick<Deps, "db">,
  change: Change<WaveSettings>,
): WaveSettings {
  const changed = applyChange(readWaveSettings({ db }), change);
  upsertSetting(db, SETTING, JSON.stringify(changed));
  return changed;
}

/** Time for which an image must be well before it is proven. */
export const soakMsOf = ({ soakHours }: Pick<WaveSettings, "soakHours">): number =>
  soakHours * HOUR_MS;
