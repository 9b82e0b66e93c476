/** Network, volumes and containers of a trial: created with a mark, by which all are found and removed. @module */

import { containerCreate, containerList } from "../../../engine/containers.ts";
import { EngineError, ifThere } from "../../../engine/errors.ts";
import { imageInspect } from "../../../engine/images.ts";
import { networkCreate, networkList, networkRemove } from "../../../engine/networks.ts";
import { volumeList, volumeRemove } from "../../../engine/volumes.ts";
import { selectUnfinishedJobs } from "../../../db/jobs.ts";
import { createVolume } from "../../backup/volumes/write.ts";
import {
  adoptHelper,
  HELPER_LABEL,
  helperMark,
  helperName,
  looksLikeHelper,
  releaseHelper,
} from "../../containers/helpers.ts";
import { withoutContainerValues } from "../../containers/secret_values.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { removeAndWait } from "../recreate/replace.ts";
import { trialBody, type TrialParts } from "./create_body.ts";
import { inStartOrder, type TrialMember } from "./members.ts";

/** Marks all objects of a trial; the value is that of the installation and the job. */
const TRIAL_LABEL = "longshore.trial";

type PartsDeps = Pick<Deps, "db" | "engine" | "log" | "server" | "startedAt">;

const markOf = ({ server }: Pick<Deps, "server">, jobId: string) => `${server.id}/${jobId}`;

const newName = (): string => `longshore-trial-${crypto.randomUUID().slice(-12)}`;

const NAME = /^longshore-trial-[0-9a-f]{12}$/;

/** @returns Name of a new, empty volume. */
export async function createTrialVolume(
  deps: PartsDeps,
  jobId: string,
  signal: AbortSignal,
): Promise<string> {
  const name = newName();
  await createVolume(deps, { name, labels: { [TRIAL_LABEL]: markOf(deps, jobId) } }, { signal });
  return name;
}

/** A container of a trial. */
export interface TrialContainer {
  member: TrialMember;
  id: string;
}

/**
 * Creates the network and the containers. The inventory does not have them, and nothing is reported
 * about them.
 *
 * @param options.volumes Volumes by the key of what they are copies of.
 * @param options.files Keys of files of the host that are copied into the containers.
 * @param options.fill Called with each container before the next one is created.
 * @returns In the order in which they start.
 * @throws {AppError} `conflict` with the engine's message.
 */
export async function createTrialContainers(
  deps: PartsDeps,
  jobId: string,
  members: readonly TrialMember[],
  { volumes, files, fill, signal }: {
    volumes: ReadonlyMap<string, string>;
    files: Pick<ReadonlySet<string>, "has">;
    fill(container: TrialContainer): Promise<void>;
    signal: AbortSignal;
  },
): Promise<TrialContainer[]> {
  const mark = { [TRIAL_LABEL]: markOf(deps, jobId) };
  const network = await createNetwork(deps, mark, signal);
  const labels = { ...mark, [HELPER_LABEL]: helperMark(deps) };
  const created: TrialContainer[] = [];
  for (const member of inStartOrder(members)) {
    const parts = { network, volumes, files, created, members, labels };
    const container = { member, id: await createContainer(deps, member, parts, signal) };
    created.push(container);
    await fill(container);
  }
  return created;
}

async function createNetwork(
  { engine }: PartsDeps,
  labels: Record<string, string>,
  signal: AbortSignal,
): Promise<string> {
  const name = newName();
  await networkCreate(engine, {
    body: {
      Name: name,
      Driver: "bridge",
      Internal: true,
      Labels: labels,
      // Without an address of the host in it, through which its published ports could be reached.
      ...(engine.kind === "docker" && {
        Options: { "com.docker.network.bridge.inhibit_ipv4": "true" },
      }),
    },
    signal,
  });
  return name;
}

async function createContainer(
  { engine }: PartsDeps,
  member: TrialMember,
  parts: TrialParts,
  signal: AbortSignal,
): Promise<string> {
  const { name, recreation: { create, platform } } = member;
  const { Config } = await imageInspect(engine, create.Image ?? "", { signal });
  const body = trialBody(engine, member, parts, Config?.Labels ?? {});
  try {
    return (await containerCreate(engine, { name: helperName(), platform, body, signal })).id;
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    const { HostConfig = {}, ...own } = body;
    const message = `The copy of ${name} could not be created: ${error.message}`;
    const failure = new AppError("conflict", message, { cause: error });
    throw await withoutContainerValues(engine, { Config: own, HostConfig }, failure);
  }
}

/** Removes all objects of a trial; can be repeated. */
export async function removeTrial(deps: PartsDeps, jobId: string): Promise<void> {
  await removeParts(deps, () => (mark) => mark === markOf(deps, jobId));
}

/** Removes what jobs have left that could not remove it themselves. */
export async function removeLeftTrials(deps: PartsDeps): Promise<void> {
  const prefix = markOf(deps, "");
  await removeParts(deps, () => {
    const unfinished = new Set(selectUnfinishedJobs(deps.db).map(({ id }) => markOf(deps, id)));
    return (mark) => mark.startsWith(prefix) && !unfinished.has(mark);
  });
}

type Labels = Readonly<Record<string, string>> | null | undefined;

/**
 * Removes parts by their mark and name: others can set the label, an image as well.
 *
 * @param choose Called after each list, so that a job that begins meanwhile keeps its parts.
 */
async function removeParts(
  { engine, log }: PartsDeps,
  choose: () => (mark: string) => boolean,
): Promise<void> {
  const filters = { label: [TRIAL_LABEL] };
  const chosen = <Part extends { Labels?: Labels }>(all: Part[]): Part[] => {
    const isChosen = choose();
    return all.filter(({ Labels }) => isChosen(Labels?.[TRIAL_LABEL] ?? ""));
  };
  const isNamed = ({ Name }: { Name: string }) => NAME.test(Name);
  const containers = chosen(await containerList(engine, { all: true, filters }))
    .filter(({ Labels, Names }) => looksLikeHelper(Labels, Names?.[0]));
  for (const { Id, Names } of containers) {
    adoptHelper(Names[0]);
    await removeAndWait(engine, Id, { volumes: true });
    releaseHelper(Names[0]);
  }
  const networks = chosen(await networkList(engine, { filters })).filter(isNamed);
  for (const network of networks) await ifThere(networkRemove(engine, network));
  const volumes = chosen(await volumeList(engine, { filters })).filter(isNamed);
  for (const { Name } of volumes) await ifThere(volumeRemove(engine, Name));
  if (containers.length + networks.length + volumes.length === 0) return;
  log.info("trial removed", { containers: containers.length, volumes: volumes.length });
}
