/**
 * The differences between a service and its containers, as reasons of a change.
 *
 * @module
 */

import type { ContainerConfig, ContainerInspect } from "../../../../engine/containers.ts";
import { findReference } from "../../../../engine/image_reference.ts";
import type { FileHashes } from "../deploy/files.ts";
import { LABEL } from "../labels.ts";
import type { Context, Setting } from "./comparison.ts";
import { settingsOfContainer, settingsOfService, withoutThoseOf } from "./settings.ts";

/** Why something changes. */
export interface Reason {
  /** E.g. `environment.LOG_LEVEL`. */
  path: string;
  /** `null` if it is not set. Values of variables are never shown. */
  from: string | null;
  to: string | null;
  /** E.g. `environment: LOG_LEVEL added`. */
  text: string;
}

/** Maximum length of a value in a reason. */
const VALUE_MAX = 300;

/** What differs between a service and one of its containers. */
export function differences(
  context: Context,
  container: ContainerInspect,
  { images, imageIds }: {
    images: ReadonlyMap<string, ContainerConfig>;
    imageIds: ReadonlyMap<string, string>;
  },
): Reason[] {
  const { service } = context;
  const image = images.get(container.Image);
  const wanted = withoutThoseOf(image, settingsOfService(context));
  const found = withoutThoseOf(image, settingsOfContainer(container, image, context));
  const keys = [...new Set([...Object.keys(wanted), ...Object.keys(found)])].sort();
  return [
    ...imageReasons(service.image, container, imageIds.get(service.image)),
    ...keys.flatMap((key) => compareSetting(key, found[key], wanted[key])),
  ];
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
  if (wantedId === undefined || wantedId === id) return [];
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
  if (key === "environment" || (key === "logging.options" && SECRET_OPTION.test(name))) {
    return [reason(path, shown(from), shown(to), text)];
  }
  return [reason(path, from ?? null, to ?? null, text)];
}

/** E.g. `splunk-token`. */
const SECRET_OPTION = /token|key|password|secret|credential/i;

const changeText = (from: string | null, to: string | null) =>
  from === null ? `set to ${to}` : to === null ? "removed" : `changed from ${from} to ${to}`;

const isMap = (value: Setting) => typeof value === "object" && !Array.isArray(value);

export const reason = (
  path: string,
  from: string | null,
  to: string | null,
  text: string,
): Reason => ({
  path,
  from: from && cut(from),
  to: to && cut(to),
  text: cut(text),
});

const cut = (text: string) => text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)}…` : text;
