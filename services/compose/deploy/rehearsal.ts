/**
 * The rehearsal of a deploy: the containers that it would create run as copies, with copies of those
 * that they need, before anything is created or stopped.
 *
 * @module
 */

import type {
  ContainerCreateBody,
  ContainerInspect,
  MountPoint,
} from "../../../engine/containers.ts";
import { fullImageId } from "../../../engine/image_id.ts";
import { systemInfo } from "../../../engine/system.ts";
import { extractIntoContainer } from "../../backup/volumes/container_files.ts";
import { parseDependsOn } from "../../containers/order.ts";
import { listAll } from "../../containers/reads.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { JobEnd } from "../../jobs/kind.ts";
import { isInside } from "../../text/paths.ts";
import type { Recreation } from "../../updates/recreate/recreate.ts";
import { planRehearsal } from "../../updates/rehearsal/plan.ts";
import { RehearsalError, tryOut } from "../../updates/rehearsal/rehearse.ts";
import { inspectIfThere } from "../../updates/run/members.ts";
import { sourcesOf, type TrialMember } from "../../updates/trial/members.ts";
import { LABEL } from "../labels.ts";
import { dependenciesOf } from "../load/resolve.ts";
import { findImage } from "../plan/platform.ts";
import type { LoadedStack } from "../plan/stored.ts";
import { containerNameOf, planServiceContainer } from "./container.ts";
import { archiveOf, filesOf } from "./files.ts";
import type { DeployJob, FailedDeploy, PlannedDeploy, ServiceWork } from "./job.ts";

/** Time that a container without a health check has to run, in seconds. */
const STABLE_S = 10;

/**
 * @returns Why the new containers count as well; `null` if none is created.
 * @throws {JobEnd} With evidence, if they fail.
 * @throws {AppError} `conflict` for containers that cannot be tried out or copied.
 */
export async function rehearseDeploy(
  deps: Deps,
  job: DeployJob,
  stack: LoadedStack,
  planned: PlannedDeploy,
): Promise<string | null> {
  const created = await plannedMembers(deps, stack, planned);
  if (created.length === 0) return null;
  const members = [...created, ...await neededMembers(deps, stack, planned)];
  const { stackRoots } = deps.config;
  const copied = sourcesOf(members).filter(({ type, source }) =>
    type === "volume" || stackRoots.some((root) => isInside(source, root))
  );
  const { healthTimeoutSeconds, stableSeconds } = job.input;
  const plan = { members, judged: created.map(({ name }) => name), copied };
  const criteria = {
    stableSeconds: stableSeconds ?? undefined,
    defaultStableSeconds: STABLE_S,
    verifyTimeoutSeconds: healthTimeoutSeconds ?? undefined,
  };
  const outcome = await tryOut(deps, job, plan, criteria, async ({ id, member: { service } }) => {
    const files = service === null ? [] : filesOf(stack.project, service, stack.contents);
    if (files.length === 0) return;
    const archive = archiveOf(files, deps.now());
    await extractIntoContainer(deps, id, archive, {
      what: "Configs and secrets",
      signal: job.signal,
    });
  });
  if ("verdict" in outcome) return outcome.verdict;
  const { message } = new RehearsalError(outcome.failure, outcome.evidence);
  const { version } = job.input;
  const { warnings } = planned;
  const result = { version, changes: [], warnings, evidence: outcome.evidence };
  throw new JobEnd("failed", message, result satisfies FailedDeploy);
}

/** Copies of the containers that the deploy would create. */
async function plannedMembers(
  deps: Deps,
  stack: LoadedStack,
  { services }: PlannedDeploy,
): Promise<TrialMember[]> {
  const info = await systemInfo(deps.engine);
  const members: TrialMember[] = [];
  for (const work of services) {
    const service = stack.project.services[work.key]!;
    const image = await findImage(deps.engine, service, info);
    if (!image) throw new AppError("conflict", `Image ${service.image} does not exist any more`);
    for (const { number, oldId } of numbersOf(work)) {
      const old = oldId === undefined ? undefined : await inspectIfThere(deps.engine, oldId);
      const recreation = planServiceContainer({
        project: stack.project,
        place: stack.place,
        key: work.key,
        number,
        image: { id: fullImageId(image.Id), config: image.Config ?? {} },
        // Copies find each other by the names of the originals.
        findPeer: (peer) => {
          const name = containerNameOf(stack.project, peer, 1);
          return { id: name, name };
        },
        old,
        fileHashes: undefined,
        apiVersion: deps.engine.apiVersion,
      });
      const name = containerNameOf(stack.project, work.key, number);
      members.push(memberOf({ name, key: work.key, old }, recreation, image.Id));
    }
  }
  return members;
}

const numbersOf = ({ replaced, created }: ServiceWork): { number: number; oldId?: string }[] => [
  ...replaced,
  ...created.map((number) => ({ number })),
];

function memberOf(
  { name, key, old }: { name: string; key: string; old: ContainerInspect | undefined },
  { create, connect, platform, disconnect }: Recreation,
  image: string,
): TrialMember {
  return {
    name,
    id: old?.Id ?? "",
    service: key,
    recreation: { create: { ...create, Image: image }, platform, connect, disconnect },
    mounts: mountPoints(create),
    networks: {
      ...create.NetworkingConfig?.EndpointsConfig,
      ...Object.fromEntries(connect.map(({ network, endpoint }) => [network, endpoint])),
    },
    restartPolicy: create.HostConfig?.RestartPolicy,
    dependencies: parseDependsOn(create.Labels?.[LABEL.dependsOn]),
  };
}

/** Requested mounts, as the engine would describe them. */
function mountPoints({ HostConfig = {} }: ContainerCreateBody): MountPoint[] {
  const binds = (HostConfig.Binds ?? []).map((bind): MountPoint => {
    const [Source = "", Destination = "", options = ""] = bind.split(":");
    return { Type: "bind", Source, Destination, RW: !options.split(",").includes("ro") };
  });
  const mounts = (HostConfig.Mounts ?? []).map(({ Type, Source, Target = "", ReadOnly }) => ({
    Destination: Target,
    RW: ReadOnly !== true,
    ...(Type !== undefined && { Type }),
    ...(Source !== undefined && (Type === "volume" ? { Name: Source } : { Source })),
  }));
  return [...binds, ...mounts];
}

/** Copies of containers that stay as they are and that the new ones need. */
async function neededMembers(
  deps: Deps,
  { project }: LoadedStack,
  { services, removed }: PlannedDeploy,
): Promise<TrialMember[]> {
  const changed = new Set(services.map(({ key }) => key));
  const needed = new Set(changed);
  for (const key of needed) {
    for (const other of Object.keys(dependenciesOf(project.services[key]!))) needed.add(other);
  }
  const gone = new Set(removed.map(({ oldId }) => oldId));
  const existing = (await listAll(deps)).filter(({ id, composeProject, composeService }) =>
    composeProject === project.name && composeService !== null && !gone.has(id) &&
    needed.has(composeService) && !changed.has(composeService)
  );
  const names = existing.map(({ name }) => name);
  const { members } = await planRehearsal(deps, names, new Map());
  return members.filter(({ name }) => names.includes(name));
}
