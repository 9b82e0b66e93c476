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
import { type NetworkCreateBody, networkList, PREDEFINED_NETWORKS } from "../../engine/networks.ts";
import { findVolume } from "../../engine/volumes.ts";
import type { Entries, Entry } from "../backup/restic/entry.ts";
import { creationOf } from "../compose/deploy/networks.ts";
import { generateStack } from "../compose/generate/generate.ts";
import { recordCurrent } from "../compose/sources.ts";
import type { StoredSources } from "../compose/validate.ts";
import { openVersion } from "../compose/versions.ts";
import { withOwnPolicy } from "../containers/left_stopped.ts";
import { inspectContainer, isUp } from "../containers/reads.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import type { StackKind } from "../stacks/groups.ts";
import type { Contents } from "./contents.ts";

/** Content of `stack.json`. */
export interface StackDescription {
  /** Of this description. */
  version: 1;
  stack: string;
  /** `null` for a stack without stored sources. */
  sources: DescribedSources | null;
  /** Compose text written from the containers of a stack without stored sources, if that is possible. */
  generated: string | null;
  containers: DescribedContainer[];
  volumes: DescribedVolume[];
  /** Create the networks of the containers again. */
  networks: NetworkCreateBody[];
}

export interface DescribedSources {
  version: number;
  kind: StackKind;
  sources: StoredSources;
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
  const sources = await describeSources(deps, stack);
  const described = await Promise.all(containers.map((each) => describeContainer(deps, each)));
  return {
    version: 1,
    stack,
    sources,
    generated: sources ? null : await describeAsCompose(deps, containers),
    containers: described,
    volumes: (await Promise.all(parts.map(({ mount }) => describeVolume(deps, mount)))).flat(),
    networks: await describeNetworks(deps, described),
  };
}

/** Of a stack on disk as its files are now, unless they cannot be read. */
async function describeSources(deps: Deps, stack: string): Promise<DescribedSources | null> {
  if (!selectCurrentVersion(deps.db, stack)) return null;
  try {
    await recordCurrent(deps, stack);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    deps.log.warn("sources of a stack not read; the stored ones are backed up", {
      stack,
      error: error.message,
    });
  }
  const { stored, sources } = openVersion(deps, selectCurrentVersion(deps.db, stack)!);
  return { version: stored.version, kind: stored.kind, sources };
}

/** The snapshot is sealed by the password of its repository, so that values need not be hidden. */
async function describeAsCompose(
  deps: Deps,
  containers: Contents["containers"],
): Promise<string | null> {
  try {
    const { compose } = await generateStack(
      deps,
      { role: "admin" },
      containers.map(({ id }) => id),
    );
    return compose;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    deps.log.warn("containers not described as a Compose file", { error: error.message });
    return null;
  }
}

async function describeContainer(
  deps: Deps,
  container: Contents["containers"][number],
): Promise<DescribedContainer> {
  const { id, name, composeService, image } = container;
  const { Image, Config, HostConfig, Mounts, NetworkSettings } = withOwnPolicy(
    deps.db,
    await inspectContainer(deps, id),
  );
  const found = await ifThere(imageInspect(deps.engine, Image));
  return {
    id,
    name,
    service: composeService,
    image,
    imageId: Image,
    // As it was read before it was stopped for this.
    ran: isUp(container),
    digests: found?.RepoDigests ?? [],
    inspect: { Config, HostConfig, Mounts, NetworkSettings },
  };
}

/** Addresses are described only where containers have chosen them: others may be taken elsewhere. */
async function describeNetworks(
  { engine }: Pick<Deps, "engine">,
  containers: readonly DescribedContainer[],
): Promise<NetworkCreateBody[]> {
  const endpoints = containers.flatMap(({ inspect: { NetworkSettings } }) =>
    Object.entries(NetworkSettings.Networks ?? {})
  );
  const names = new Set(endpoints.map(([name]) => name));
  const hasAddress = (network: string) =>
    endpoints.some(([name, { IPAMConfig }]) =>
      name === network && (IPAMConfig?.IPv4Address || IPAMConfig?.IPv6Address)
    );
  return (await networkList(engine))
    .filter(({ Name }) => names.has(Name) && !PREDEFINED_NETWORKS.has(Name))
    .map((network) => {
      const { IPAM, ...body } = creationOf(network);
      return { ...body, ...(IPAM && hasAddress(network.Name) && { IPAM }) };
    });
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
  const { compose = description.generated ?? undefined, env } = description.sources?.sources ?? {};
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
