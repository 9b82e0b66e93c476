/**
 * The description of a stack in a snapshot: its sources, its containers, networks and volumes, so that
 * an empty host can be brought to the same state. `compose.yaml` and `.env` are for people who restore
 * with restic alone.
 *
 * @module
 */

import { selectCurrentVersion } from "../../db/stack_versions.ts";
import type { ContainerInspect } from "../../engine/containers.ts";
import { ifThere } from "../../engine/errors.ts";
import { imageInspect } from "../../engine/images.ts";
import { findVolume } from "../../engine/volumes.ts";
import type { Entries, Entry } from "../backup/restic/entry.ts";
import type { StoredSources } from "../compose/validate.ts";
import { openVersion } from "../compose/versions.ts";
import { inspectContainer, isUp } from "../containers/reads.ts";
import type { Deps } from "../deps.ts";
import type { StackKind } from "../stacks/groups.ts";
import type { Contents } from "./contents.ts";

/** Content of `stack.json`. */
export interface StackDescription {
  /** Of this description. */
  version: 1;
  stack: string;
  /** `null` for a stack without stored sources. */
  sources: { version: number; kind: StackKind; sources: StoredSources } | null;
  containers: DescribedContainer[];
  volumes: DescribedVolume[];
}

export interface DescribedContainer {
  /** By which others name it whose namespaces it shares; missing in snapshots of older versions. */
  id?: string;
  name: string;
  service: string | null;
  image: string;
  imageId: string;
  /** Whether it ran when the snapshot was begun; missing in snapshots of older versions. */
  ran?: boolean;
  /** `name@sha256:…`, by which the same image can be pulled. */
  digests: string[];
  /** The engine's description. */
  inspect: Pick<ContainerInspect, "Config" | "HostConfig" | "Mounts" | "NetworkSettings">;
}

export interface DescribedVolume {
  name: string;
  driver: string;
  labels: Record<string, string>;
  options: Record<string, string>;
}

export const DESCRIPTION_FILE = "stack.json";

/** @throws {AppError} `conflict` for sources that cannot be decrypted. */
export async function describeStack(
  deps: Deps,
  { containers, parts }: Contents,
  stack: string,
): Promise<StackDescription> {
  const stored = selectCurrentVersion(deps.db, stack);
  return {
    version: 1,
    stack,
    sources: stored
      ? {
        version: stored.version,
        kind: stored.kind,
        sources: openVersion(deps, stored).sources,
      }
      : null,
    containers: await Promise.all(containers.map(async (each) => {
      const { id, name, composeService, image } = each;
      const { Image, Config, HostConfig, Mounts, NetworkSettings } = await inspectContainer(
        deps,
        id,
      );
      const found = await ifThere(imageInspect(deps.engine, Image));
      return {
        id,
        name,
        service: composeService,
        image,
        imageId: Image,
        // As it was read before it was stopped for this.
        ran: isUp(each),
        digests: found?.RepoDigests ?? [],
        inspect: { Config, HostConfig, Mounts, NetworkSettings },
      };
    })),
    volumes: (await Promise.all(parts.map(({ mount }) => describeVolume(deps, mount)))).flat(),
  };
}

async function describeVolume(
  { engine }: Pick<Deps, "engine">,
  { type, source }: Contents["parts"][number]["mount"],
): Promise<DescribedVolume[]> {
  const found = type === "volume" ? await findVolume(engine, source) : undefined;
  if (!found) return [];
  const { Name, Driver, Labels, Options } = found;
  return [{ name: Name, driver: Driver, labels: Labels ?? {}, options: Options ?? {} }];
}

/** The description as files of a snapshot, with paths relative to the directory of the stack. */
export async function* describedFiles(
  description: StackDescription,
  at: Date,
): Entries & AsyncGenerator<Entry> {
  const texts: Record<string, string> = {
    [DESCRIPTION_FILE]: JSON.stringify(description, null, 2),
  };
  const { compose, env } = description.sources?.sources ?? {};
  if (compose !== undefined) texts["compose.yaml"] = compose;
  if (typeof env === "string") texts[".env"] = env;
  for (const name of Object.keys(texts).sort()) {
    yield textEntry(name, texts[name]!, at);
  }
}

function textEntry(path: string, text: string, at: Date): Entry {
  const bytes = new TextEncoder().encode(text);
  return {
    path,
    type: "file",
    mode: 0o600,
    uid: 0,
    gid: 0,
    mtime: BigInt(at.getTime()) * 1_000_000n,
    size: bytes.length,
    content: (async function* () {
      yield bytes;
    })(),
  };
}
