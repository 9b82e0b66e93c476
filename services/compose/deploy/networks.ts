/**
 * Networks that a deploy creates again, because they exist with other settings: their containers are
 * stopped and disconnected before, and connected again if the deploy is taken back. Each step starts
 * from the engine's current state.
 *
 * @module
 */

import type { EndpointSettings } from "../../../engine/containers.ts";
import { EngineUnreachableError, ifThere } from "../../../engine/errors.ts";
import {
  findNetwork,
  type Network,
  networkConnect,
  networkCreate,
  type NetworkCreateBody,
  networkDisconnect,
  networkRef,
  networkRemove,
} from "../../../engine/networks.ts";
import type { Deps } from "../../deps.ts";
import { AppError, asAppError } from "../../errors.ts";
import { listAll } from "../../containers/reads.ts";
import { requestEndpoint } from "../../updates/recreate/recreate.ts";
import { inspectIfThere } from "../../updates/run/members.ts";
import { stopAside } from "../../updates/run/swap.ts";
import type { Project } from "../load/resolve.ts";
import { listMembers } from "../members.ts";
import { isCreatedFrom } from "../plan/network_changes.ts";
import type { Observed } from "../plan/observed.ts";
import { serviceOf } from "../plan/replicas.ts";
import type { Attempt, DeployJob, PlannedDeploy, ReplacedNetwork } from "./job.ts";
import { createNetwork } from "./parts.ts";
import { isOnNetwork } from "./parts_in_use.ts";
import { stopWithHooks } from "./stop.ts";

/** The step that replaces networks. */
export const REPLACE_NETWORKS = "replace networks";

/** Records what is needed to restore networks that are created again. */
export async function replacedNetworks(
  { engine }: Pick<Deps, "engine">,
  project: Project,
  keys: readonly string[],
  { containers }: Pick<Observed, "containers">,
): Promise<ReplacedNetwork[]> {
  return await Promise.all(keys.map(async (key) => {
    const { name } = project.networks[key]!;
    const found = await findNetwork(engine, name);
    if (!found) throw new AppError("conflict", `Network ${name} was removed meanwhile`);
    const attached = containers.flatMap((container) => {
      const endpoint = container.NetworkSettings.Networks?.[name];
      return endpoint
        ? [{
          id: container.Id,
          service: serviceOf(container),
          endpoint: requestEndpoint(endpoint, container.Id),
        }]
        : [];
    });
    return { key, body: creationOf(found), attached };
  }));
}

/** The request that creates a network like this one. */
export function creationOf(network: Network): NetworkCreateBody {
  const { Name, Driver, Internal, Attachable, EnableIPv4, EnableIPv6, IPAM, Options, Labels } =
    network;
  return {
    Name,
    Driver,
    Internal,
    Attachable: Attachable ?? false,
    ...(EnableIPv4 === false && { EnableIPv4 }),
    EnableIPv6: EnableIPv6 ?? false,
    IPAM: {
      ...(IPAM?.Driver && { Driver: IPAM.Driver }),
      ...(IPAM?.Options && { Options: IPAM.Options }),
      Config: IPAM?.Config ?? [],
    },
    Options: Options ?? {},
    Labels: Labels ?? {},
  };
}

/**
 * Stops the containers on the networks in reverse order of their services, removes the networks and
 * creates them with the settings of the file.
 *
 * @throws {AppError} `conflict` with the engine's message.
 */
export async function replaceNetworks(
  deps: Deps,
  { signal }: DeployJob,
  project: Project,
  { replacedNetworks = [], services, removed }: PlannedDeploy,
): Promise<void> {
  const keys = services.map(({ key }) => key);
  const attached = replacedNetworks.flatMap(({ attached }) => attached)
    .toSorted((a, b) => keys.indexOf(b.service) - keys.indexOf(a.service));
  const members = [...attached, ...removed.map(({ oldId, key }) => ({ id: oldId, service: key }))];
  const once = [...new Map(members.map((each) => [each.id, each])).values()];
  await stopWithHooks(deps, project, once, signal);
  for (const { key, attached } of replacedNetworks) {
    const network = project.networks[key]!;
    const { name } = network;
    const found = await findNetwork(deps.engine, name);
    // A step that is repeated after a crash may have created it already.
    if (found && isCreatedFrom(network, found)) continue;
    await asConflict(name, async () => {
      if (found) await removeNetwork(deps, project, found, attached.map(({ id }) => id));
      await createNetwork(deps, project, key);
    });
  }
}

/**
 * Lets the old containers use their networks again, which a rollback starts afterwards.
 *
 * @param to The settings of the networks: those before the deploy, or what is there now.
 */
export async function restoreNetworks(
  deps: Deps,
  project: Project,
  { replacedNetworks = [], existing }: PlannedDeploy,
  { to, attempt }: {
    to: "before" | "now";
    attempt: Attempt;
  },
): Promise<void> {
  const { engine } = deps;
  const isOld = new Set(existing);
  for (const { key, body, attached } of replacedNetworks) {
    const network = project.networks[key]!;
    const { name } = network;
    await attempt(() =>
      asConflict(name, async () => {
        let found = await findNetwork(engine, name);
        if (found && isCreatedFrom(network, found) && to === "before") {
          const fresh = await newContainersOn(deps, project, name, isOld);
          await removeNetwork(deps, project, found, fresh);
          found = undefined;
        }
        if (!found) await networkCreate(engine, { body });
      })
    );
    for (const { id, endpoint } of attached) {
      await attempt(() => asConflict(name, () => reconnect(deps, { id, endpoint, name })));
    }
  }
}

/** Containers of the project that the deploy created, and that are on a network. */
async function newContainersOn(
  { engine }: Deps,
  project: Project,
  name: string,
  isOld: ReadonlySet<string>,
): Promise<string[]> {
  const all = await listMembers(engine, project.name);
  return all.filter(({ Id, NetworkSettings }) =>
    !isOld.has(Id) && Object.hasOwn(NetworkSettings?.Networks ?? {}, name)
  ).map(({ Id }) => Id);
}

/**
 * Removes a network from which only these containers have to be disconnected.
 *
 * @throws {AppError} `conflict` if a container of others has joined it since the plan.
 */
async function removeNetwork(
  deps: Deps,
  project: Project,
  network: Network,
  containers: readonly string[],
): Promise<void> {
  const { engine } = deps;
  const others = (await listAll(deps)).filter((each) =>
    each.composeProject !== project.name && isOnNetwork(each, network)
  );
  if (others.length > 0) {
    const names = others.map(({ name }) => name).join(", ");
    throw new AppError("conflict", `it has containers that the deploy does not replace: ${names}`);
  }
  for (const id of containers) {
    const container = await inspectIfThere(engine, id);
    if (!container) continue;
    await stopAside(deps, container);
    await disconnect(deps, network, id);
  }
  await ifThere(networkRemove(engine, network));
}

const disconnect = ({ engine }: Deps, network: Network, container: string) =>
  ifThere(networkDisconnect(engine, networkRef(engine, network), { container, force: true }));

/** Connects a stopped container, also one that knows the network by a former id. */
async function reconnect(
  deps: Deps,
  { id, endpoint, name }: { id: string; endpoint: EndpointSettings; name: string },
): Promise<void> {
  const { engine } = deps;
  const [container, network] = await Promise.all([
    inspectIfThere(engine, id),
    findNetwork(engine, name),
  ]);
  if (!network) throw new AppError("conflict", `Network ${name} does not exist`);
  const current = container?.NetworkSettings.Networks?.[name];
  // Podman has the name as the id, and keeps no container on a network that was removed.
  if (!container || [network.Id, name].some((id) => id === current?.NetworkID)) return;
  if (current) await disconnect(deps, network, id);
  await networkConnect(engine, networkRef(engine, network), { container: id, endpoint });
}

async function asConflict(name: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const known = asAppError(error);
    if (!known || error instanceof EngineUnreachableError) throw error;
    const message = `Network ${name} could not be recreated: ${known.message}`;
    throw new AppError("conflict", message, { cause: error });
  }
}
