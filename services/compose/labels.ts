/** Labels that Compose and Longshore use to find the parts of a project again. @module */

import { VERSION } from "../version.ts";

const PREFIX = "com.docker.compose.";

export const LABEL = {
  configFiles: `${PREFIX}project.config_files`,
  configHash: `${PREFIX}config-hash`,
  containerNumber: `${PREFIX}container-number`,
  dependsOn: `${PREFIX}depends_on`,
  environmentFile: `${PREFIX}project.environment_file`,
  image: `${PREFIX}image`,
  network: `${PREFIX}network`,
  oneOff: `${PREFIX}oneoff`,
  project: "com.docker.compose.project",
  service: `${PREFIX}service`,
  version: `${PREFIX}version`,
  volume: `${PREFIX}volume`,
  workingDir: `${PREFIX}project.working_dir`,
  /** A keyed hash of the configs and secrets that were copied into a container, and its hooks. */
  files: "longshore.files",
  /** Keyed hashes of each of these, as JSON by name, so that a plan can name what changed. */
  eachFile: "longshore.files.each",
  /** Paths of anonymous volumes that neither the file nor the image has any more, as JSON. */
  keptVolumes: "longshore.kept-volumes",
  /** A hash of the settings from which a network was created. */
  networkHash: "longshore.network-hash",
} as const;

/** Says which program deployed a part, as Compose writes its own version. */
export const LABELS_VERSION = `longshore-${VERSION}`;
