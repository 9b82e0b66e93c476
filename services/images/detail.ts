/** The details of an image, and names for it. @module */

import type { ContainerConfig } from "../../engine/container_config.ts";
import { EngineError } from "../../engine/errors.ts";
import { fullImageId } from "../../engine/image_id.ts";
import { imageHistory, imageInspect, type ImageLayer, imageTag } from "../../engine/images.ts";
import { type Caller, includesRole } from "../access/caller.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { REDACTED } from "../text/redact.ts";
import { engineTime } from "../containers/engine_time.ts";
import type { Container } from "../containers/inventory.ts";
import { currentContainers } from "../containers/containers.ts";
import type { ReadDeps } from "../containers/reads.ts";
import { parseVariable } from "../containers/record.ts";
import { type Image, imageNames, toImage, withNamesOf } from "./images.ts";
import { parseImage } from "./reference.ts";

interface ImageDetail extends Image {
  architecture: string;
  os: string;
  variant: string | null;
  /** Defaults for its containers. */
  config: {
    entrypoint: string[];
    command: string[];
    workingDir: string;
    user: string;
    /** Values may be secret: only an admin sees them. */
    env: { name: string; value: string }[];
    exposedPorts: string[];
    volumes: string[];
    labels: Record<string, string>;
  };
  /** Newest first. */
  history: {
    createdAt: string | null;
    /** The instruction of the build. */
    createdBy: string;
    /** Bytes. */
    size: number;
    comment: string;
    tags: string[];
  }[];
  /** The containers that use it, in any state. */
  usedBy: Pick<Container, "id" | "name" | "state">[];
}

/**
 * For an API token with a scope, only images of its containers exist.
 *
 * @param ref Id, unambiguous prefix of an id, or `name[:tag][@digest]`.
 * @throws {EngineError} 404 if the image does not exist.
 */
export async function getImage(
  deps: ReadDeps,
  ref: string,
  caller: Pick<Caller, "role">,
): Promise<ImageDetail> {
  const [image, history, containers] = await Promise.all([
    imageInspect(deps.engine, ref),
    imageHistory(deps.engine, ref),
    currentContainers(deps),
  ]);
  const users = containers.filter(({ imageId }) => imageId === fullImageId(image.Id));
  const { scope } = deps.inventory;
  if (scope && users.length === 0) throw new EngineError(404, `No such image: ${ref}`);
  const all = toImage(image, users.length);
  const shown = scope ? withNamesOf(all, users) : all;
  const showsValues = includesRole(caller.role, "admin");
  return {
    ...shown,
    architecture: image.Architecture ?? "",
    os: image.Os ?? "",
    variant: image.Variant || null,
    config: toConfig(image.Config, showsValues),
    history: history.map((layer) => toLayer(layer, shown.repoTags, showsValues)),
    usedBy: users.map(({ id, name, state }) => ({ id, name, state })),
  };
}

/**
 * Adds a name to an image. A name that another image has is moved to this one.
 *
 * @throws {AppError} `invalid` for an invalid name or one with a digest.
 * @throws {EngineError} 404 if the image does not exist.
 */
export async function tagImage(
  { engine, diskUsage }: Pick<Deps, "engine" | "diskUsage">,
  ref: string,
  image: string,
): Promise<{ ok: true; image: string }> {
  const { name, tag = "latest", digest } = parseImage(image);
  if (digest !== undefined) throw new AppError("invalid", "body.image: must not have a digest");
  await imageTag(engine, ref, { name, tag });
  diskUsage.invalidate();
  return { ok: true, image: `${name}:${tag}` };
}

function toConfig(
  config: ContainerConfig | null | undefined,
  showsValues: boolean,
): ImageDetail["config"] {
  return {
    entrypoint: config?.Entrypoint ?? [],
    command: config?.Cmd ?? [],
    workingDir: config?.WorkingDir ?? "",
    user: config?.User ?? "",
    env: (config?.Env ?? []).map((entry) => {
      const { name, value } = parseVariable(entry);
      return { name, value: showsValues ? value : REDACTED };
    }),
    exposedPorts: Object.keys(config?.ExposedPorts ?? {}),
    volumes: Object.keys(config?.Volumes ?? {}),
    labels: config?.Labels ?? {},
  };
}

function toLayer(
  { Created, CreatedBy, Size, Comment, Tags }: ImageLayer,
  shownTags: readonly string[],
  showsValues: boolean,
): ImageDetail["history"][number] {
  return {
    createdAt: engineTime(Created),
    createdBy: showsValues ? CreatedBy : withoutValues(CreatedBy),
    size: Size,
    comment: Comment,
    tags: imageNames(Tags).filter((tag) => shownTags.includes(tag)),
  };
}

/**
 * Hides the values of environment variables and build arguments: `ENV A=b`, `ARG A=b`, and `|1 A=b`
 * before a command.
 */
function withoutValues(instruction: string): string {
  const declared = /^(?:\/bin\/sh -c #\(nop\)\s+)?(?:ENV|ARG)\s+\w+(?=[=\s])/.exec(instruction);
  if (declared) return `${declared[0]}=${REDACTED}`;
  const args = /^(?:RUN )?\|\d+ /.exec(instruction);
  return args ? `${args[0]}${REDACTED}` : instruction;
}
