/**
 * Labels that Compose and Longshore use to find the parts of a project again.
 *
 * @module
 */

const PREFIX = "com.docker.compose.";

export const LABEL = {
  configHash: `${PREFIX}config-hash`,
  containerNumber: `${PREFIX}container-number`,
  dependsOn: `${PREFIX}depends_on`,
  image: `${PREFIX}image`,
  network: `${PREFIX}network`,
  oneOff: `${PREFIX}oneoff`,
  project: "com.docker.compose.project",
  service: `${PREFIX}service`,
  version: `${PREFIX}version`,
  volume: `${PREFIX}volume`,
  /** A keyed hash of the configs and secrets that were copied into a container. */
  files: "longshore.files",
} as const;

/** The version of Compose whose labels are written. */
export const COMPOSE_VERSION = "2.29.0";
