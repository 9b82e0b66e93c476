/** Every kind of job. @module */

import { checkKind, forgetKind, pruneKind, unlockKind } from "../backup/targets/jobs.ts";
import { deployKind, downKind } from "../compose/deploy/kinds.ts";
import { swarmDeployKind, swarmDownKind } from "../compose/swarm/job.ts";
import { fleetRunKind } from "../fleet/runs/kind.ts";
import { sendKind } from "../fleet/sending/kinds.ts";
import { imageLoadKind } from "../images/load.ts";
import { imagePullKind } from "../images/pull.ts";
import { snapshotKind } from "../snapshots/kinds.ts";
import { drillKind } from "../snapshots/drills/kinds.ts";
import { ownBackupKind } from "../snapshots/own/kind.ts";
import { restoreKind } from "../snapshots/restore/kinds.ts";
import { stackRestoreKind } from "../snapshots/stack/kinds.ts";
import { receiveKind } from "../snapshots/transfer/kinds.ts";
import { configRotationKind, secretRotationKind } from "../swarm/rotation.ts";
import {
  restartKind,
  scaleKind,
  serviceRollbackKind,
  serviceUpdateKind,
} from "../swarm/service_jobs.ts";
import { scanKind, takeoverKind } from "../takeover/kinds.ts";
import { rebuildKind } from "../updates/rebuild/kind.ts";
import { updateCheckKind } from "../updates/check/job.ts";
import { rollbackKind, updateKind } from "../updates/run/kind.ts";
import { stackRollbackKind, stackUpdateKind } from "../updates/run/stack_kind.ts";
import { ownUpdateKind } from "../updates/own_update.ts";
import type { NamedJobKind } from "../jobs/kind.ts";

export const JOB_KINDS: readonly NamedJobKind[] = [
  imagePullKind,
  imageLoadKind,
  updateKind,
  rollbackKind,
  rebuildKind,
  stackUpdateKind,
  stackRollbackKind,
  updateCheckKind,
  deployKind,
  downKind,
  swarmDeployKind,
  swarmDownKind,
  ownUpdateKind,
  scaleKind,
  restartKind,
  serviceRollbackKind,
  serviceUpdateKind,
  secretRotationKind,
  configRotationKind,
  scanKind,
  takeoverKind,
  snapshotKind,
  ownBackupKind,
  restoreKind,
  stackRestoreKind,
  receiveKind,
  sendKind,
  drillKind,
  checkKind,
  forgetKind,
  pruneKind,
  unlockKind,
  fleetRunKind,
];
