/** Settings of mTLS. @module */

import {
  type MtlsConfig,
  selectMtlsConfig,
  updateMtlsConfig,
} from "../../../db/enterprise/mtls_config.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";

export function getMtlsConfig({ db }: Pick<Deps, "db">): MtlsConfig {
  return selectMtlsConfig(db);
}

/** Changes the given settings, effective from the next request. */
export function changeMtlsConfig(
  { db, log }: Pick<Deps, "db" | "log">,
  change: Change<MtlsConfig>,
): MtlsConfig {
  const config = applyChange(selectMtlsConfig(db), change);
  updateMtlsConfig(db, config);
  log.info("mTLS settings changed", { ...config });
  return config;
}
