/**
 * What is done with client certificates: the settings of mTLS.
 *
 * @module
 */

import { selectMtlsConfig, updateMtlsConfig } from "../../db/enterprise/mtls_config.ts";
import type { Deps } from "../deps.ts";

/** The settings as shown. */
export interface MtlsSettings {
  enforcement_enabled: boolean;
  reject_unknown_certs: boolean;
  auto_enroll: boolean;
}

/** What an update may say; what it leaves out stays. */
export type MtlsSettingsChange = {
  [Field in keyof MtlsSettings]?: MtlsSettings[Field] | undefined;
};

export function getMtlsSettings({ db }: Pick<Deps, "db">): MtlsSettings {
  const config = selectMtlsConfig(db);
  return {
    enforcement_enabled: config.enforcementEnabled,
    reject_unknown_certs: config.rejectUnknownCerts,
    auto_enroll: config.autoEnroll,
  };
}

export function changeMtlsSettings(
  { db, log }: Pick<Deps, "db" | "log">,
  change: MtlsSettingsChange,
): MtlsSettings {
  const before = getMtlsSettings({ db });
  updateMtlsConfig(db, {
    enforcementEnabled: change.enforcement_enabled ?? before.enforcement_enabled,
    rejectUnknownCerts: change.reject_unknown_certs ?? before.reject_unknown_certs,
    autoEnroll: change.auto_enroll ?? before.auto_enroll,
  });
  const settings = getMtlsSettings({ db });
  log.info("mTLS settings changed", { ...settings });
  return settings;
}
