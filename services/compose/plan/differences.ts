/** The differences between a service and its containers, as reasons of a change. @module */

import type { ContainerInspect } from "../../../engine/containers.ts";
import { fullImageId } from "../../../engine/image_id.ts";
import { findReference } from "../../../engine/image_reference.ts";
import { type Platform, platformOf } from "../../updates/run/platform.ts";
import { composeHash } from "../deploy/config_hash.ts";
import type { FileHashes } from "../deploy/files.ts";
import { LABEL } from "../labels.ts";
import type { Context, Setting } from "./comparison.ts";
import type { Observed } from "./observed.ts";
import { imageKey, isForPlatform } from "./platform.ts";
import { settingsOfContainer, settingsOfService, withoutThoseOf } from "./settings.ts";

/** Why something changes. */
export interface Reason {
  /** E.g. `environment.LOG_LEVEL`. */
  path: string;
  /** `null` if it is not set. Values of variables and of log options are never shown. */
  from: string | null;
  to: string | null;
  /** E.g. `environment: LOG_LEVEL added`. */
  text: string;
}

/** Differences between a service and a container. */
export interface Differences {
  /** Why the container is recreated. */
  reasons: Reason[];
  /** Paths of settings that the engine does not describe as it was told to create the container. */
  unapplied: string[];
}

/** Settings that can change after the creation of a container, or that are those of others. */
const CHANGEABLE: ReadonlySet<string> = new Set([
  "blkio_config",
  "container_name",
  "cpu_period",
  "cpu_quota",
  "cpu_rt_period",
  "cpu_rt_runtime",
  "cpu_shares",
  "cpus",
  "cpuset",
  "external_links",
  "links",
  "mem_limit",
  "mem_reservation",
  "memswap_limit",
  "network_mode",
  "networks",
  "pids_limit",
  "restart",
  "volumes_from",
]);

/** Compares a service with one of its containers. */
export function differences(
  context: Context,
  container: ContainerInspect,
  { images, imageIds, platforms }: Pick<Observed, "images" | "imageIds" | "platforms">,
): Differences {
  const { service, project, name } = context;
  const image = images.get(fullImageId(container.Image));
  const wanted = withoutThoseOf(image, settingsOfService(context));
  const found = withoutThoseOf(image, settingsOfContainer(container, image, context));
  const keys = [...new Set([...Object.keys(wanted), ...Object.keys(found)])].sort();
  const hash = container.Config.Labels?.[LABEL.configHash];
  const isSame = hash !== undefined && hash === composeHash(project.services[name]!);
  const compared = keys.flatMap((key) =>
    compareSetting(key, found[key], wanted[key]).map((reason) => ({
      reason,
      isEngines: isSame && isOfEngine(key, reason),
    }))
  );
  const engines = compared.filter(({ isEngines }) => isEngines).map(({ reason }) => reason);
  return {
    reasons: [
      ...imageReasons(service.image, container, imageIds.get(imageKey(service))),
      ...platformReasons(service.platform, platforms?.get(fullImageId(container.Image))),
      ...compared.filter(({ isEngines }) => !isEngines).map(({ reason }) => reason),
    ],
    // Values that the engine adds by itself are not missing.
    unapplied: engines.filter(({ to }) => to !== null).map(({ path }) =>
      service.gpus ? path : path.replace(/^gpus\b/, "deploy.resources.reservations.devices")
    ),
  };
}

/**
 * Whether a difference comes from the engine: a container that was created from the same settings has
 * it from the beginning, and another one would have it, too.
 */
function isOfEngine(key: string, { from, to }: Reason): boolean {
  if (CHANGEABLE.has(key)) return false;
  // The file may give the volume another name elsewhere; the engine leaves only options out.
  if (key === "volumes") return to === null || (from !== null && to.startsWith(from));
  // Of another container, which may have been replaced.
  return ![from, to].some((value) => /^(?:service|container):/.test(value ?? ""));
}

/** The running image may be for another platform, although the file names the same image. */
function platformReasons(wanted: string | undefined, image: Platform | undefined): Reason[] {
  if (wanted === undefined || !image || isForPlatform(image, wanted)) return [];
  const found = platformOf(image);
  return [reason("platform", found, wanted, `platform changed from ${found} to ${wanted}`)];
}

/** Configs, secrets and hooks. Only hashes are known of what a container has. */
export function fileReasons(
  { Config }: ContainerInspect,
  wanted: FileHashes | undefined,
): Reason[] {
  const { [LABEL.files]: all, [LABEL.eachFile]: each } = Config.Labels ?? {};
  if (all === wanted?.all) return [];
  const before = all === undefined ? {} : hashesIn(each);
  const after = wanted?.each ?? {};
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after)])].sort();
  const reasons = before
    ? names.flatMap((name) => hiddenChange(name, before[name], after[name]))
    : [];
  if (reasons.length > 0) return reasons;
  return [reason("secrets", HIDDEN, HIDDEN, "a config, a secret or post_start changed")];
}

/** Containers of earlier versions do not have the label, and images may have any text there. */
function hashesIn(label = ""): Record<string, unknown> | undefined {
  try {
    return { ...JSON.parse(label) };
  } catch {
    return undefined;
  }
}

/** Instead of values that may be secrets. */
const HIDDEN = "(changed)";

/** @param path E.g. `secrets.key`. */
const hiddenChange = (path: string, from: unknown, to: unknown): Reason[] =>
  from === to
    ? []
    : [reason(path, shown(from), shown(to), `${path.replace(".", ": ")} ${verbOf(from, to)}`)];

const shown = (value: unknown) => value === undefined ? null : HIDDEN;

const verbOf = (from: unknown, to: unknown) =>
  from === undefined ? "added" : to === undefined ? "removed" : "changed";

function imageReasons(
  wanted: string,
  { Config: { Image = "" }, Image: id }: ContainerInspect,
  wantedId: string | undefined,
): Reason[] {
  if (fullImageName(Image) !== fullImageName(wanted)) {
    return [reason("image", Image, wanted, `image changed from ${Image} to ${wanted}`)];
  }
  if (wantedId === undefined || fullImageId(wantedId) === fullImageId(id)) return [];
  return [reason("image", shortId(id), shortId(wantedId), `${wanted} has a newer image here`)];
}

/** `nginx` and `docker.io/library/nginx:latest` are the same. */
export function fullImageName(image: string): string {
  const reference = findReference(image);
  // The id of an image.
  if (!reference) return image;
  const { registry, repository, tag, digest } = reference;
  return `${registry}/${repository}:${tag ?? (digest ? "" : "latest")}@${digest ?? ""}`;
}

const shortId = (id: string) => id.replace(/^sha256:/, "").slice(0, 12);

function compareSetting(key: string, from: Setting | undefined, to: Setting | undefined): Reason[] {
  if (isMap(from ?? {}) && isMap(to ?? {})) {
    const [before, after] = [from ?? {}, to ?? {}] as Record<string, string>[];
    const names = [...new Set([...Object.keys(before!), ...Object.keys(after!)])].sort();
    return names.flatMap((name) => compareEntry(key, name, before![name], after![name]));
  }
  const [before, after] = [from, to].map((value) =>
    value === undefined ? null : typeof value === "string" ? value : JSON.stringify(value)
  ) as [string | null, string | null];
  if (before === after) return [];
  return [reason(key, before, after, `${key} ${changeText(before, after)}`)];
}

function compareEntry(
  key: string,
  name: string,
  from: string | undefined,
  to: string | undefined,
): Reason[] {
  if (from === to) return [];
  const path = `${key}.${name}`;
  const text = `${key}: ${name} ${verbOf(from, to)}`;
  // These values may be secrets.
  if (SECRET_SETTINGS.has(key)) {
    return [reason(path, shown(from), shown(to), text)];
  }
  return [reason(path, from ?? null, to ?? null, text)];
}

/** Settings with values that only admins see of a container, e.g. `splunk-token`. */
const SECRET_SETTINGS: ReadonlySet<string> = new Set(["environment", "logging.options"]);

const changeText = (from: string | null, to: string | null) =>
  from === null ? `set to ${to}` : to === null ? "removed" : `changed from ${from} to ${to}`;

const isMap = (value: Setting) => typeof value === "object" && !Array.isArray(value);

export const reason = (
  path: string,
  from: string | null,
  to: string | null,
  text: string,
): Reason => ({ path, from, to, text });
