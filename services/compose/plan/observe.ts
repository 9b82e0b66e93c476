/** Reads what the engine has of a project. @module */

import { containerInspect, containerList } from "../../../engine/containers.ts";
import { ifThere } from "../../../engine/errors.ts";
import { fullImageId } from "../../../engine/image_id.ts";
import { type ImageInspect, imageInspect } from "../../../engine/images.ts";
import { type Network, networkList } from "../../../engine/networks.ts";
import { hasContainerdStore, systemInfo } from "../../../engine/system.ts";
import { volumeList } from "../../../engine/volumes.ts";
import type { Deps } from "../../deps.ts";
import { withOwnPolicy } from "../../containers/left_stopped.ts";
import { currentContainers, type ReadDeps } from "../../containers/reads.ts";
import { assertComplete } from "../../containers/unreadable.ts";
import { nameOf } from "../../updates/recreate/replace.ts";
import type { Platform } from "../../updates/run/platform.ts";
import type { FileHashes } from "../deploy/files.ts";
import { LABEL } from "../labels.ts";
import type { Project } from "../load/resolve.ts";
import { listMembers, withOwnLabels } from "../members.ts";
import { networkReasons } from "./network_changes.ts";
import type { AttachedContainer, Observed } from "./observed.ts";
import { findImage, imageKey } from "./platform.ts";

/** Parallel requests to the engine. */
const REQUESTS_MAX = 8;

/** Reads what the engine has of a project. */
export async function observe(
  deps: ReadDeps & Pick<Deps, "db" | "secrets">,
  { project, contents }: { project: Project; contents: ReadonlyMap<string, string> },
): Promise<Observed> {
  const { db, engine, secrets } = deps;
  const [all, listed, networks, volumes, info] = await Promise.all([
    currentContainers(deps),
    listMembers(engine, project.name),
    networkList(engine),
    volumeList(engine),
    systemInfo(engine),
  ]);
  const own = listed.filter(({ Labels }) => Labels?.[LABEL.oneOff]?.toLowerCase() !== "true");
  const inspects = await inParallel(own, ({ Id }) => ifThere(containerInspect(engine, Id)));
  const containers = inspects.flatMap((each) => each ? withOwnPolicy(db, each) : []);
  for (const each of containers) assertComplete(each, `Container ${nameOf(each)}`);

  const used = new Set(containers.map(({ Image }) => Image));
  const services = new Map(Object.values(project.services).map((each) => [imageKey(each), each]));
  const wanted = await inParallel([...services], async ([key, service]) => {
    const image = await findImage(engine, service, info);
    return [key, image] as const;
  });
  const known = [
    ...await inParallel([...used], (id) => ifThere(imageInspect(engine, id))),
    ...wanted.map(([, image]) => image),
  ].filter((image) => image !== undefined);
  for (const image of known) assertComplete(image, `Image ${image.RepoTags?.[0] ?? image.Id}`);
  const byId = <Value>(read: (image: ImageInspect) => Value) =>
    new Map(known.map((image) => [fullImageId(image.Id), read(image)]));
  return {
    containers,
    images: byId(({ Config }) => Config ?? {}),
    // An image for several platforms is described as that of the host.
    ...(!hasContainerdStore(info) && {
      platforms: byId((image) => image as Platform),
    }),
    imageIds: new Map(
      wanted.flatMap(([key, image]) => image ? [[key, fullImageId(image.Id)]] : []),
    ),
    networks: new Set(networks.map(({ Name }) => Name)),
    volumes: new Set(volumes.map(({ Name }) => Name)),
    fileHashes: await hashAll(secrets, project, contents),
    networkDetails: new Map(networks.map((network) => [network.Name, network])),
    volumeDetails: new Map(volumes.map((volume) => [volume.Name, volume])),
    attached: await attachedContainers(engine, project, networks),
    all,
    defaults: {
      kind: engine.kind,
      apiVersion: engine.apiVersion,
      logDriver: info.LoggingDriver,
      runtime: info.DefaultRuntime,
      info,
    },
  };
}

/** The containers on networks of the project that differ from the file. */
async function attachedContainers(
  engine: Deps["engine"],
  project: Project,
  networks: readonly Network[],
): Promise<Map<string, AttachedContainer[]>> {
  const byName = new Map(networks.map((network) => [network.Name, network]));
  const differing = Object.entries(project.networks).filter(([key, network]) =>
    networkReasons(key, network, byName.get(network.name)).length > 0
  ).map(([, { name }]) => name);
  if (differing.length === 0) return new Map();
  const all = await withOwnLabels(engine, await containerList(engine, { all: true }));
  return new Map(differing.map((network) => [
    network,
    all.filter(({ NetworkSettings }) => Object.hasOwn(NetworkSettings?.Networks ?? {}, network))
      .map(({ Id, Names, Labels }) => ({
        id: Id,
        name: (Names[0] ?? Id).replace(/^\//, ""),
        service: Labels?.[LABEL.project] === project.name ? Labels[LABEL.service] : undefined,
      })),
  ]));
}

async function hashAll(
  secrets: Deps["secrets"],
  project: Project,
  contents: ReadonlyMap<string, string>,
): Promise<Map<string, FileHashes>> {
  const hashes = new Map<string, FileHashes>();
  const services = Object.entries(project.services);
  if (contents.size === 0 && !services.some(([, { post_start }]) => post_start)) return hashes;
  const { hashFiles } = await import("../deploy/files.ts");
  for (const [key] of services) {
    const hash = await hashFiles(secrets, project, key, contents);
    if (hash !== undefined) hashes.set(key, hash);
  }
  return hashes;
}

async function inParallel<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (let at = 0; at < items.length; at += REQUESTS_MAX) {
    results.push(...await Promise.all(items.slice(at, at + REQUESTS_MAX).map(work)));
  }
  return results;
}
