/** Writes a Compose file that describes existing containers. @module */

import { stringify } from "yaml";
import { type ContainerInspect, containerInspect } from "../../../engine/containers.ts";
import { ifThere } from "../../../engine/errors.ts";
import { type ImageInspect, imageInspect } from "../../../engine/images.ts";
import { type Network, networkList } from "../../../engine/networks.ts";
import { systemInfo } from "../../../engine/system.ts";
import { type Volume, volumeList } from "../../../engine/volumes.ts";
import { type Caller, includesRole } from "../../access/caller.ts";
import { isLimited } from "../../access/scope.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { Container } from "../../containers/inventory.ts";
import { REDACTED } from "../../text/redact.ts";
import { withOwnPolicy } from "../../containers/left_stopped.ts";
import { assertMayInspect } from "../../containers/own_container.ts";
import { currentContainers, type ReadDeps, resolveContainer } from "../../containers/reads.ts";
import { refersTo } from "../../containers/share_group.ts";
import { assertComplete } from "../../containers/unreadable.ts";
import { LABEL } from "../labels.ts";
import { given, literal, type Part } from "./part.ts";
import { describeService } from "./service.ts";

export interface GeneratedStack {
  /** The name of the project of all containers; `null` if they have none in common. */
  name: string | null;
  compose: string;
  /** Variables that the file has in place of values that the caller may not see. */
  variables: string[];
  /** Settings that the file cannot express. */
  warnings: string[];
}

interface Described {
  /** The service's key. */
  key: string;
  inspect: ContainerInspect;
  container: Container;
  /** Containers of the same service. */
  scale: number;
}

/**
 * Describes containers as services. Volumes and networks of another project are external.
 *
 * @param refs Ids, prefixes of ids or names; several containers of one service become its scale.
 * @throws {AppError} `not_found`; `forbidden` for the service's own container unless the caller is
 * an admin; `conflict` for a container that Swarm manages.
 */
export async function generateStack(
  deps: ReadDeps & Pick<Deps, "db">,
  caller: Pick<Caller, "role" | "scope">,
  refs: readonly string[],
): Promise<GeneratedStack> {
  const { engine } = deps;
  const [described, everything, networks, volumes, info] = await Promise.all([
    describe(deps, caller, refs),
    currentContainers(deps),
    networkList(engine),
    volumeList(engine),
    systemInfo(engine),
  ]);
  const project = projectOf(described.map(({ container }) => container));
  nameServices(described, project);

  const warnings: string[] = [];
  const variables: string[] = [];
  const used = { networks: new Map<string, string>(), volumes: new Map<string, string>() };
  const secretText = (name: string, value: string) => {
    if (includesRole(caller.role, "admin")) return literal(value);
    const variable = name.toUpperCase().replace(/[^A-Z0-9]/g, "_").replace(/^(?=\d)/, "_");
    variables.push(variable);
    return `\${${variable}}`;
  };
  const services: Part = {};
  for (const { key, inspect, scale } of mergeReplicas(described)) {
    const image = await ifThere(imageInspect(engine, inspect.Image));
    if (!image) warnings.push(`The image of ${key} was removed, so that ${key} has its settings`);
    const service = describeService(inspect, {
      key,
      project,
      image: image?.Config ?? undefined,
      reference: referenceOf(inspect, image),
      defaults: {
        apiVersion: engine.apiVersion,
        logDriver: info.LoggingDriver,
        runtime: info.DefaultRuntime,
      },
      serviceOf: (ref) => described.find(({ container }) => refersTo(ref, container))?.key,
      nameOf: (id) => {
        const found = everything.find((container) => refersTo(id, container));
        if (found || !isLimited(caller.scope)) return found?.name ?? id;
        warnings.push(`${key} uses a container that this token cannot access`);
        return REDACTED;
      },
      secretText: (name, value) => secretText(`${key}_${name}`, value),
      networkKey: keysOf(networks, { used: used.networks, label: LABEL.network, project }),
      volumeKey: keysOf(volumes, { used: used.volumes, label: LABEL.volume, project }),
      warn: (message) => warnings.push(message),
    });
    if (inspect.Config.Labels?.[LABEL.files] !== undefined) {
      warnings.push(
        `${key} has configs or secrets, which are copied into it: add them to the file`,
      );
    }
    services[key] = scale > 1 ? { ...service, scale } : service;
  }

  const file = {
    ...(project !== undefined && { name: project }),
    services,
    ...section(
      "networks",
      used.networks,
      (key, name) =>
        describeNetwork(key, networks.find(({ Name }) => Name === name), {
          project,
          hasAddresses: described.some(({ inspect }) => hasAddress(inspect, name)),
        }),
    ),
    ...section(
      "volumes",
      used.volumes,
      (key, name) =>
        describeVolume(key, name, volumes.find(({ Name }) => Name === name), {
          project,
          secretText,
        }),
    ),
  };
  return {
    name: project ?? null,
    // Compose 1 reads YAML 1.1, in which e.g. `yes` and `22:22` have to be quoted.
    compose: stringify(file, { lineWidth: 0, version: "1.1", aliasDuplicateObjects: false }),
    variables: [...new Set(variables)].sort(),
    warnings: [...new Set(warnings)],
  };
}

async function describe(
  deps: ReadDeps & Pick<Deps, "db">,
  caller: Pick<Caller, "role">,
  refs: readonly string[],
): Promise<Described[]> {
  const found = new Map<string, Described>();
  for (const ref of refs) {
    const container = await resolveContainer(deps, ref);
    assertMayInspect(container, caller);
    if (container.labels["com.docker.swarm.task.id"]) {
      throw new AppError("conflict", `Container ${container.name} is a Swarm task`);
    }
    const inspect = withOwnPolicy(deps.db, await containerInspect(deps.engine, container.id));
    assertComplete(inspect, `Container ${container.name}`);
    found.set(container.id, { key: "", inspect, container, scale: 1 });
  }
  return [...found.values()];
}

/** The Compose project of all containers, if they have one in common. */
function projectOf(containers: readonly Container[]): string | undefined {
  const projects = new Set(containers.map(({ composeProject }) => composeProject));
  return projects.size === 1 ? [...projects][0] ?? undefined : undefined;
}

/** Keys are the names that the services have in their project, or those of their containers. */
function nameServices(described: readonly Described[], project: string | undefined): void {
  const taken = new Set<string>();
  for (const each of described) {
    const service = project !== undefined && each.inspect.Config.Labels?.[LABEL.service];
    if (service) {
      each.key = service;
      continue;
    }
    const base = each.container.name.replace(/[^a-zA-Z0-9._-]/g, "-");
    let key = base;
    for (let number = 2; taken.has(key); number++) key = `${base}-${number}`;
    taken.add(each.key = key);
  }
}

/** Keeps the first container of each service, and counts the others. */
function mergeReplicas(described: readonly Described[]): Described[] {
  const services = new Map<string, Described>();
  const numberOf = ({ inspect }: Described) =>
    Number(inspect.Config.Labels?.[LABEL.containerNumber] ?? 1);
  for (const each of described.toSorted((a, b) => numberOf(a) - numberOf(b))) {
    const first = services.get(each.key);
    if (first) first.scale++;
    else services.set(each.key, { ...each });
  }
  return [...services.values()].sort((a, b) => a.key < b.key ? -1 : 1);
}

/** A name of the image, also where the container was created from its id. */
function referenceOf({ Config, Image }: ContainerInspect, image: ImageInspect | undefined): string {
  const reference = Config.Image || Image;
  if (!/^(?:sha256:)?[0-9a-f]{12,64}$/.test(reference)) return reference;
  return image?.RepoTags?.[0] ?? image?.RepoDigests?.[0] ?? reference;
}

/** Returns the key of a network or volume by its name: that in its project, or the name. */
const keysOf = (
  parts: readonly Pick<Network | Volume, "Name" | "Labels">[],
  { used, label, project }: {
    used: Map<string, string>;
    label: string;
    project: string | undefined;
  },
) =>
(name: string): string => {
  const labels = parts.find(({ Name }) => Name === name)?.Labels;
  const key = isOwn(labels, project) ? labels?.[label] ?? name : name;
  used.set(key, name);
  return key;
};

function section(
  title: string,
  used: ReadonlyMap<string, string>,
  describe: (key: string, name: string) => Part,
): Part {
  const parts = [...used].filter(([key]) => title !== "networks" || key !== "default")
    .map(([key, name]) => [key, describe(key, name)]);
  return parts.length > 0 ? { [title]: Object.fromEntries(parts) } : {};
}

const isOwn = (
  labels: Record<string, string> | null | undefined,
  project: string | undefined,
) => project !== undefined && labels?.[LABEL.project] === project;

/** Labels that Compose does not set itself. */
const ownLabels = (labels: Record<string, string> | null | undefined): Part =>
  Object.fromEntries(
    Object.entries(labels ?? {}).filter(([name]) => !name.startsWith("com.docker.compose."))
      .map(([name, value]) => [name, literal(value)]),
  );

const hasAddress = ({ NetworkSettings }: ContainerInspect, network: string) => {
  const { IPv4Address, IPv6Address } = NetworkSettings.Networks?.[network]?.IPAMConfig ?? {};
  return Boolean(IPv4Address || IPv6Address);
};

/** Subnets belong to the file only if services have addresses in them: the engine may have chosen. */
function describeNetwork(
  key: string,
  network: Network | undefined,
  { project, hasAddresses }: { project: string | undefined; hasAddresses: boolean },
): Part {
  const { Name = key, Labels, Driver, Internal, Attachable, EnableIPv6, Options, IPAM } = network ??
    {};
  if (!isOwn(Labels, project)) return { external: true, name: Name };
  const subnets = IPAM?.Config?.map(({ Subnet, Gateway, IPRange }) =>
    given({ subnet: Subnet, gateway: Gateway, ip_range: IPRange })
  );
  return given({
    name: Name === `${project}_${key}` ? undefined : Name,
    driver: Driver === "bridge" ? undefined : Driver,
    driver_opts: Options,
    internal: Internal || undefined,
    // Compose sets it on bridges, where it has no effect.
    attachable: (Driver !== "bridge" && Attachable) || undefined,
    enable_ipv6: EnableIPv6 || undefined,
    ipam: hasAddresses && subnets?.length ? { config: subnets } : undefined,
    labels: ownLabels(Labels),
  });
}

/** The options of a driver may have a password, e.g. those of a network share. */
function describeVolume(
  key: string,
  name: string,
  volume: Volume | undefined,
  { project, secretText }: {
    project: string | undefined;
    secretText: (name: string, value: string) => string;
  },
): Part {
  if (!volume || !isOwn(volume.Labels, project)) return { external: true, name };
  return given({
    name: name === `${project}_${key}` ? undefined : name,
    driver: volume.Driver === "local" ? undefined : volume.Driver,
    driver_opts: Object.fromEntries(
      Object.entries(volume.Options ?? {}).map(([option, value]) => [
        option,
        secretText(`${key}_${option}`, value),
      ]),
    ),
    labels: ownLabels(volume.Labels),
  });
}
