/** Platforms of images: which of them an engine has, and which a service needs. @module */

import type { Engine } from "../../../engine/client.ts";
import { ifThere } from "../../../engine/errors.ts";
import { nameReference } from "../../../engine/image_reference.ts";
import { type ImageInspect, imageInspect } from "../../../engine/images.ts";
import { type EngineInfo, hasContainerdStore } from "../../../engine/system.ts";
import { isAtLeast } from "../../../engine/query.ts";
import { type Platform, platformOf } from "../../updates/run/platform.ts";
import type { Project, Service } from "../load/resolve.ts";

type Wanted = Pick<Service, "image" | "platform">;

/** Other names of architectures, with their variant. */
const ALIASES: Readonly<Record<string, string>> = {
  aarch64: "arm64",
  armel: "arm/v6",
  armhf: "arm/v7",
  armv6l: "arm/v6",
  armv7l: "arm/v7",
  i386: "386",
  i686: "386",
  x86_64: "amd64",
  "x86-64": "amd64",
};

const SYSTEMS = ["linux", "windows", "freebsd", "darwin"];

/** An image for one platform. Without a platform, the engine chooses the one of its host. */
export const imageKey = ({ image, platform }: Wanted): string =>
  platform === undefined ? image : `${image} for ${platform}`;

/** `linux/arm64/v8`, `arm64` or `linux`. An operating system that is not given is Linux. */
export function parsePlatform(text: string): Platform {
  const parts = text.toLowerCase().split("/");
  const Os = SYSTEMS.includes(parts[0]!) ? parts.shift()! : "linux";
  const [architecture = "", variant] = parts;
  const [Architecture = "", Variant] = (ALIASES[architecture] ?? architecture).split("/");
  return { Os, Architecture, Variant: variant ?? Variant };
}

/** Whether an image can be used where a platform is wanted. */
export function isForPlatform(image: Platform, text: string): boolean {
  const wanted = parsePlatform(text);
  if (image.Os !== wanted.Os) return false;
  if (wanted.Architecture === "") return true;
  // Of the architectures, only `arm` has variants of which one cannot run the other one's programs.
  return image.Architecture === wanted.Architecture &&
    (wanted.Architecture !== "arm" || !image.Variant || !wanted.Variant ||
      image.Variant === wanted.Variant);
}

/**
 * The image that the engine would use for a service; `undefined` if it has to be pulled.
 *
 * @param info Of the engine; not needed without a platform.
 */
export async function findImage(
  engine: Engine,
  { image, platform }: Wanted,
  info: Partial<EngineInfo>,
): Promise<ImageInspect | undefined> {
  const isStored = hasContainerdStore(info);
  // The creation of a container checks it if the engine cannot be asked.
  const asked = platform !== undefined && isStored && isAtLeast(engine.apiVersion, "1.49")
    ? parsePlatform(platform)
    : undefined;
  const found = await ifThere(imageInspect(engine, nameReference(image), { platform: asked }));
  if (!found || platform === undefined || isStored) return found;
  return isForPlatform(found, platform) ? found : undefined;
}

/** Sentences about services that want one image for several platforms, if the engine keeps only one. */
export function platformConflicts({ services }: Project, info: Partial<EngineInfo>): string[] {
  if (hasContainerdStore(info)) return [];
  const own = parsePlatform(`${info.OSType ?? "linux"}/${info.Architecture ?? ""}`);
  const byImage = Map.groupBy(Object.entries(services), ([, { image }]) => image);
  return [...byImage].flatMap(([image, users]) => {
    const platforms = users.map(([, { platform }]) =>
      platform === undefined ? own : parsePlatform(platform)
    );
    const other = platforms.findIndex((each) => !isForPlatform(each, platformOf(platforms[0]!)));
    return other < 0 ? [] : [
      `${users[0]![0]} and ${users[other]![0]} use image ${image} for different platforms ` +
      `(${platformOf(platforms[0]!)} and ${platformOf(platforms[other]!)}), and the engine keeps ` +
      "one image of a name; give the images different tags or digests",
    ];
  });
}
