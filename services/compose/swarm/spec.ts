/**
 * The specification of a service of a Swarm stack, as `docker stack deploy` would create it, so that
 * either program can update what the other one deployed.
 *
 * @module
 */

import type { Grant, ServiceSpec, UpdateConfig } from "../../../engine/swarm.ts";
import { definedFields } from "../../change.ts";
import { STACK_LABEL } from "../../swarm/services.ts";
import { healthcheckOf } from "../deploy/container.ts";
import { mountRequest } from "../deploy/host_config.ts";
import type { FileGrant } from "../load/grants.ts";
import type { Project, Service } from "../load/resolve.ts";
import { parseDuration } from "../load/values.ts";

/** Label of services: the image as the Compose file has it. */
const IMAGE_LABEL = "com.docker.stack.image";

/** Names of secrets and configs on the engine, e.g. by `secrets.key`. */
export type ValueNames = ReadonlyMap<string, string>;

/** The name of a service on the engine. */
export const serviceNameOf = (project: Project, key: string) => `${project.name}_${key}`;

/**
 * @returns The specification with the names of networks, secrets and configs; the engine also needs
 * the ids of the latter.
 */
export function serviceSpec(project: Project, key: string, names: ValueNames): ServiceSpec {
  const service = project.services[key]!;
  const { deploy = {} } = service;
  const rollback = rolloutOf(deploy.rollback_config);
  return definedFields({
    Name: serviceNameOf(project, key),
    Labels: { ...deploy.labels, [STACK_LABEL]: project.name, [IMAGE_LABEL]: service.image },
    TaskTemplate: definedFields({
      ContainerSpec: containerSpec(project, service, names),
      LogDriver: service.logging &&
        { Name: service.logging.driver ?? "", Options: service.logging.options ?? {} },
      Resources: resourcesOf(service),
      RestartPolicy: restartPolicyOf(service),
      Placement: placementOf(service),
      Networks: networksOf(project, key, service),
    }),
    Mode: modeOf(service),
    UpdateConfig: rolloutOf(deploy.update_config),
    RollbackConfig: rollback,
    EndpointSpec: { Mode: deploy.endpoint_mode ?? "vip", Ports: portsOf(service) },
  }) as ServiceSpec;
}

function containerSpec(project: Project, service: Service, names: ValueNames) {
  const { environment = {}, stop_grace_period: grace } = service;
  const hasDns = service.dns ?? service.dns_search ?? service.dns_opt;
  return definedFields({
    Image: service.image,
    Labels: { ...service.labels, [STACK_LABEL]: project.name },
    Command: service.entrypoint ?? undefined,
    Args: service.command ?? undefined,
    Hostname: service.hostname,
    Env: Object.entries(environment).map(([name, value]) =>
      value === null ? name : `${name}=${value}`
    ).sort(),
    Dir: service.working_dir,
    User: service.user,
    Groups: service.group_add,
    StopSignal: service.stop_signal,
    StopGracePeriod: grace === undefined ? undefined : parseDuration(grace),
    TTY: service.tty,
    OpenStdin: service.stdin_open,
    ReadOnly: service.read_only,
    Init: service.init,
    Isolation: service.isolation,
    Hosts: service.extra_hosts?.map(toHost),
    DNSConfig: hasDns && definedFields({
      Nameservers: service.dns,
      Search: service.dns_search,
      Options: service.dns_opt,
    }),
    Sysctls: service.sysctls,
    CapabilityAdd: service.cap_add?.map(toCapability),
    CapabilityDrop: service.cap_drop?.map(toCapability),
    Ulimits: service.ulimits &&
      Object.entries(service.ulimits).map(([Name, limit]) =>
        typeof limit === "number"
          ? { Name, Soft: limit, Hard: limit }
          : { Name, Soft: limit.soft, Hard: limit.hard }
      ),
    Healthcheck: healthcheckOf(service),
    Mounts: mountsOf(project, service),
    Secrets: grantsOf(service.secrets, "secrets", names),
    Configs: grantsOf(service.configs, "configs", names),
  });
}

/** `name=address` as the line of a hosts file. */
function toHost(entry: string): string {
  const at = entry.search(/[=:]/);
  return `${entry.slice(at + 1)} ${entry.slice(0, at)}`;
}

const toCapability = (name: string) => {
  const upper = name.toUpperCase();
  return upper === "ALL" || upper.startsWith("CAP_") ? upper : `CAP_${upper}`;
};

function mountsOf(project: Project, { volumes = [], tmpfs = [] }: Service) {
  const mounts = volumes.map((mount) => {
    const request = mountRequest(mount, project);
    const volume = mount.type === "volume" ? project.volumes[mount.source ?? ""] : undefined;
    if (!volume || volume.external) return request;
    return {
      ...request,
      VolumeOptions: definedFields({
        ...request.VolumeOptions,
        Labels: { ...volume.labels, ...mount.volume?.labels, [STACK_LABEL]: project.name },
        DriverConfig: volume.driver === undefined && volume.driver_opts === undefined
          ? undefined
          : { Name: volume.driver ?? "local", Options: volume.driver_opts ?? {} },
      }),
    };
  });
  return [
    ...mounts,
    ...tmpfs.map((entry) => ({ Type: "tmpfs", Target: entry.split(":")[0]! })),
  ];
}

function grantsOf(
  grants: readonly FileGrant[] | undefined,
  section: "secrets" | "configs",
  names: ValueNames,
): Grant[] | undefined {
  return grants?.map(({ source, target, uid = "0", gid = "0", mode = "0444" }) => {
    const name = names.get(`${section}.${source}`) ?? source;
    const isSecret = section === "secrets";
    return {
      File: {
        Name: target ?? (isSecret ? source : `/${source}`),
        UID: uid,
        GID: gid,
        Mode: parseInt(mode, 8),
      },
      ...(isSecret ? { SecretName: name } : { ConfigName: name }),
    };
  }).sort((a, b) => a.File.Name < b.File.Name ? -1 : 1);
}

function resourcesOf({ deploy }: Service) {
  const { limits, reservations } = deploy?.resources ?? {};
  const nano = (cpus: number | undefined) =>
    cpus === undefined ? undefined : Math.round(cpus * 1e9);
  const size = (bytes: string | undefined) => bytes === undefined ? undefined : Number(bytes);
  return {
    Limits: definedFields({
      NanoCPUs: nano(limits?.cpus),
      MemoryBytes: size(limits?.memory),
      Pids: limits?.pids,
    }),
    Reservations: definedFields({
      NanoCPUs: nano(reservations?.cpus),
      MemoryBytes: size(reservations?.memory),
      GenericResources: reservations?.generic_resources?.map((
        { discrete_resource_spec: each },
      ) => ({
        DiscreteResourceSpec: { Kind: each?.kind, Value: each?.value },
      })),
    }),
  };
}

const CONDITIONS: Readonly<Record<string, string>> = {
  no: "none",
  always: "any",
  "unless-stopped": "any",
};

function restartPolicyOf({ deploy, restart }: Service) {
  const policy = deploy?.restart_policy;
  const ns = (text: string | undefined) => text === undefined ? undefined : parseDuration(text);
  if (policy) {
    return definedFields({
      Condition: policy.condition ?? "any",
      Delay: ns(policy.delay),
      MaxAttempts: policy.max_attempts,
      Window: ns(policy.window),
    });
  }
  const [name, attempts] = restart?.split(":") ?? [];
  if (name === undefined) return undefined;
  return definedFields({
    Condition: CONDITIONS[name] ?? name,
    MaxAttempts: attempts === undefined ? undefined : Number(attempts),
  });
}

function placementOf({ deploy }: Service) {
  const placement = deploy?.placement;
  return placement && definedFields({
    Constraints: placement.constraints,
    Preferences: placement.preferences?.map(({ spread }) => ({
      Spread: { SpreadDescriptor: spread },
    })),
    MaxReplicas: placement.max_replicas_per_node,
  });
}

/** The network `host` has no parts; the others are those of the project. */
function networksOf(project: Project, key: string, { network_mode: mode, networks = {} }: Service) {
  if (mode === "host" || mode === "none") return [{ Target: mode }];
  return Object.entries(networks).map(([network, settings]) => ({
    Target: project.networks[network]?.name ?? network,
    Aliases: [...settings?.aliases ?? [], key],
  })).sort((a, b) => a.Target < b.Target ? -1 : 1);
}

export function modeOf({ deploy, scale }: Service): NonNullable<ServiceSpec["Mode"]> {
  const replicas = deploy?.replicas ?? scale ?? 1;
  switch (deploy?.mode) {
    case "global":
      return { Global: {} };
    case "replicated-job":
      return { ReplicatedJob: { MaxConcurrent: replicas, TotalCompletions: replicas } };
    case "global-job":
      return { GlobalJob: {} };
    default:
      return { Replicated: { Replicas: replicas } };
  }
}

type Rollout = NonNullable<NonNullable<Service["deploy"]>["update_config"]>;

function rolloutOf(rollout: Rollout | undefined): UpdateConfig | undefined {
  if (!rollout) return undefined;
  const ns = (text: string | undefined) => text === undefined ? undefined : parseDuration(text);
  return definedFields({
    Parallelism: rollout.parallelism ?? 1,
    Delay: ns(rollout.delay),
    FailureAction: rollout.failure_action,
    Monitor: ns(rollout.monitor),
    MaxFailureRatio: rollout.max_failure_ratio,
    Order: rollout.order,
  });
}

const portsOf = ({ ports = [] }: Service) =>
  ports.map(({ target, published, protocol, mode }) =>
    definedFields({
      Protocol: protocol,
      TargetPort: target,
      PublishedPort: published === undefined ? undefined : Number(published),
      PublishMode: mode,
    })
  );
