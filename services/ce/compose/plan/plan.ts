/**
 * Plans a deploy: what differs between a project and what the engine has. Pure.
 *
 * @module
 */

import type { ContainerConfig, ContainerInspect } from "../../../../engine/containers.ts";
import { parseReference } from "../../../../engine/image_reference.ts";
import { LABEL } from "../labels.ts";
import { dependenciesOf, type Project, type Service } from "../load/resolve.ts";
import type { PlanOptions, RecreatePolicy } from "./options.ts";
import type { Network } from "../../../../engine/networks.ts";
import type { Volume } from "../../../../engine/volumes.ts";
import { type Context, type EngineDefaults, type Setting, unknownSettings } from "./comparisons.ts";
import { networkDifferences, volumeDifferences } from "./parts.ts";
import {
  settingsOfContainer,
  settingsOfService,
  uncomparedKeys,
  withoutThoseOf,
} from "./settings.ts";

/** What the engine has. */
export interface Observed {
  /** The containers of the project, without one-off ones. */
  containers: readonly ContainerInspect[];
  /** The configurations of their images by id. */
  images: ReadonlyMap<string, ContainerConfig>;
  /** The ids of the project's images by reference; missing for those that have to be pulled. */
  imageIds: ReadonlyMap<string, string>;
  /** Names of all networks. */
  networks: ReadonlySet<string>;
  /** Names of all volumes. */
  volumes: ReadonlySet<string>;
  /** Hashes of the configs and secrets that are copied, by service. */
  fileHashes?: ReadonlyMap<string, string>;
  /** The networks and volumes themselves by name, to warn of differences. */
  networkDetails?: ReadonlyMap<string, Network>;
  volumeDetails?: ReadonlyMap<string, Volume>;
  defaults?: EngineDefaults;
}

/** Why something changes. */
export interface Reason {
  /** E.g. `environment.LOG_LEVEL`. */
  path: string;
  /** `null` if it is not set. Values of variables are never shown. */
  from: string | null;
  to: string | null;
  /** E.g. `environment: LOG_LEVEL added`. */
  text: string;
}

export interface PlannedChange {
  kind: "service" | "network" | "volume";
  /** The key in the project; of an orphan, the service of its containers. */
  name: string;
  action: "create" | "recreate" | "start" | "remove" | "none";
  reasons: Reason[];
}

export interface StackPlan {
  /** Networks, volumes, then services. */
  changes: PlannedChange[];
  warnings: string[];
}

/** Maximum length of a value in a reason. */
const VALUE_MAX = 300;

export function planProject(
  whole: Project,
  observed: Observed,
  { recreate = "changed", removeOrphans = false, services: only }: PlanOptions = {},
): StackPlan {
  const warnings: string[] = [];
  const project = only ? withServices(whole, only) : whole;
  const services = Object.entries(project.services);
  const orphans = new Set(
    observed.containers.map(serviceOf).filter((name) => !Object.hasOwn(whole.services, name)),
  );
  const changes = services.map(([name, service]) => {
    const change = planService(name, service, project, observed, warnings);
    return applyPolicy(change, recreate);
  });
  return {
    changes: [
      ...planParts("network", project.networks, usedNetworks(project), observed.networks, warnings),
      ...planParts("volume", project.volumes, usedVolumes(project), observed.volumes, warnings),
      ...withSharers(changes, project),
      ...[...orphans].sort().map((name): PlannedChange => ({
        kind: "service",
        name,
        action: removeOrphans ? "remove" : "none",
        reasons: [reason(name, "running", null, "is not in the Compose file")],
      })),
    ],
    warnings: [...warnings, ...partWarnings(project, observed)],
  };
}

/** The project with some services, and those that they depend on. */
function withServices(project: Project, names: readonly string[]): Project {
  const kept = new Set<string>();
  const keep = (name: string) => {
    const service = project.services[name];
    if (!service || kept.has(name)) return;
    kept.add(name);
    for (const dependency of Object.keys(dependenciesOf(service))) keep(dependency);
  };
  for (const name of names) keep(name);
  return {
    ...project,
    services: Object.fromEntries(
      Object.entries(project.services).filter(([name]) => kept.has(name)),
    ),
  };
}

function applyPolicy(
  change: PlannedChange,
  recreate: RecreatePolicy,
): PlannedChange {
  const { action, reasons } = change;
  if (recreate === "never" && action === "recreate") return { ...change, action: "none" };
  const isKept = action === "none" || action === "start";
  if (recreate !== "always" || !isKept) return change;
  const requested = reason("recreate", null, "always", "recreation was requested");
  return { ...change, action: "recreate", reasons: [...reasons, requested] };
}

/** A container that shares a namespace or volumes of another one is recreated together with it. */
function withSharers(changes: readonly PlannedChange[], { services }: Project): PlannedChange[] {
  const all = new Map(changes.map((change) => [change.name, change]));
  for (let isComplete = false; !isComplete;) {
    isComplete = true;
    for (const [name, change] of all) {
      const shared = sharedServices(services[name]!)
        .find((other) => all.get(other)?.action === "recreate");
      if (shared === undefined || !["none", "start"].includes(change.action)) continue;
      const text = `shares a namespace or volumes of ${shared}, which is recreated`;
      const reasons = [...change.reasons, reason("depends_on", null, shared, text)];
      all.set(name, { ...change, action: "recreate", reasons });
      isComplete = false;
    }
  }
  return [...all.values()];
}

const sharedServices = ({ ipc, network_mode, pid, volumes_from = [] }: Service): string[] => [
  ...[ipc, network_mode, pid].flatMap((mode) => /^service:(.+)$/.exec(mode ?? "")?.[1] ?? []),
  ...volumes_from.filter((entry) => !entry.startsWith("container:"))
    .map((entry) => entry.split(":")[0]!),
];

/** Networks and volumes have data or connections, so that a deploy does not replace them. */
function partWarnings(
  { networks, volumes }: Project,
  { networkDetails, volumeDetails }: Observed,
): string[] {
  const warn = (kind: string, name: string, differences: string[]) =>
    differences.map((text) =>
      `${kind} ${name} exists with other settings, which a deploy does not change: ${text}`
    );
  return [
    ...Object.values(networks).filter(({ external }) => !external).flatMap((network) => {
      const found = networkDetails?.get(network.name);
      return found ? warn("Network", network.name, networkDifferences(network, found)) : [];
    }),
    ...Object.values(volumes).filter(({ external }) => !external).flatMap((volume) => {
      const found = volumeDetails?.get(volume.name);
      return found ? warn("Volume", volume.name, volumeDifferences(volume, found)) : [];
    }),
  ];
}

function usedNetworks({ services }: Project): Set<string> {
  return new Set(Object.values(services).flatMap(({ networks }) => Object.keys(networks ?? {})));
}

function usedVolumes({ services }: Project): Set<string> {
  const mounts = Object.values(services).flatMap(({ volumes }) => volumes ?? []);
  return new Set(mounts.flatMap(({ type, source }) => type === "volume" && source ? [source] : []));
}

/** Parts that no service uses are not created. */
function planParts(
  kind: "network" | "volume",
  parts: Record<string, { name: string; external?: true }>,
  used: ReadonlySet<string>,
  existing: ReadonlySet<string>,
  warnings: string[],
): PlannedChange[] {
  return Object.entries(parts).filter(([key]) => used.has(key)).map(([key, { name, external }]) => {
    const exists = existing.has(name);
    if (external && !exists) warnings.push(`External ${kind} ${name} does not exist`);
    return {
      kind,
      name: key,
      action: exists || external ? "none" : "create",
      reasons: exists || external ? [] : [reason(name, null, name, "does not exist")],
    };
  });
}

function planService(
  name: string,
  service: Service,
  project: Project,
  observed: Observed,
  warnings: string[],
): PlannedChange {
  const containers = observed.containers.filter((each) => serviceOf(each) === name)
    .sort((a, b) => numberOf(a) - numberOf(b));
  const wanted = service.scale ?? service.deploy?.replicas ?? 1;
  const change = (action: PlannedChange["action"], reasons: Reason[] = []): PlannedChange => ({
    kind: "service",
    name,
    action,
    reasons,
  });
  if (!observed.imageIds.has(service.image)) {
    warnings.push(`Image ${service.image} of ${name} is not on the engine and has to be pulled`);
  }
  warnings.push(...unknownSettings(name, service, observed.defaults ?? {}));
  if (containers.length === 0) {
    return wanted === 0
      ? change("none")
      : change("create", [reason("scale", "0", String(wanted), "no container exists")]);
  }
  const context: Context = {
    name,
    service,
    project,
    serviceOf: (container) => serviceOfContainer(observed, container),
    defaults: observed.defaults ?? {},
  };
  const uncompared = uncomparedKeys(service);
  if (uncompared.length > 0) {
    warnings.push(`Not compared with the containers of ${name}: ${uncompared.join(", ")}`);
  }
  const options = unlistedLogOptions(service, containers);
  if (options.length > 0) {
    warnings.push(
      `The containers of ${name} have logging options that are not in the Compose file and may be ` +
        `defaults of the engine: ${options.join(", ")}`,
    );
  }
  const kept = containers.slice(0, wanted);
  const differing = kept.map((each) => [
    ...differences(context, each, observed),
    ...fileReasons(each, observed.fileHashes?.get(name)),
  ]).find((reasons) => reasons.length > 0);
  const scale = containers.length === wanted ? [] : [
    reason(
      "scale",
      String(containers.length),
      String(wanted),
      `scale changed from ${containers.length} to ${wanted}`,
    ),
  ];
  if (differing) return change("recreate", [...differing, ...scale]);
  if (scale.length > 0) return change(containers.length < wanted ? "create" : "remove", scale);
  const stopped = kept.filter(({ State }) => !State.Running && !State.Paused);
  if (stopped.length === 0) return change("none");
  const states = [...new Set(stopped.map(({ State }) => State.Status))].join(", ");
  return change("start", [reason("state", states, "running", `${stopped.length} not running`)]);
}

function serviceOfContainer({ containers }: Observed, container: string): string | undefined {
  const found = containers.find(({ Id, Name }) =>
    Id === container || Name === `/${container}` || Name === container
  );
  return found && serviceOf(found);
}

function unlistedLogOptions(service: Service, containers: readonly ContainerInspect[]): string[] {
  const found = containers.flatMap(({ HostConfig }) =>
    Object.keys(HostConfig.LogConfig?.Config ?? {})
  );
  return [...new Set(found)].filter((name) => !Object.hasOwn(service.logging?.options ?? {}, name));
}

function differences(
  context: Context,
  container: ContainerInspect,
  { images, imageIds }: Observed,
): Reason[] {
  const { service } = context;
  const image = images.get(container.Image);
  const wanted = withoutThoseOf(image, settingsOfService(context));
  const found = withoutThoseOf(image, settingsOfContainer(container, image, context));
  const keys = [...new Set([...Object.keys(wanted), ...Object.keys(found)])].sort();
  return [
    ...imageReasons(service.image, container, imageIds.get(service.image)),
    ...keys.flatMap((key) => compareSetting(key, found[key], wanted[key])),
  ];
}

/** Only a hash is known of what a container has. */
function fileReasons({ Config }: ContainerInspect, wanted: string | undefined): Reason[] {
  if (Config.Labels?.[LABEL.files] === wanted) return [];
  return [reason("secrets", null, null, "a config or secret changed")];
}

function imageReasons(
  wanted: string,
  { Config: { Image = "" }, Image: id }: ContainerInspect,
  wantedId: string | undefined,
): Reason[] {
  if (fullName(Image) !== fullName(wanted)) {
    return [reason("image", Image, wanted, `image changed from ${Image} to ${wanted}`)];
  }
  if (wantedId === undefined || wantedId === id) return [];
  return [reason("image", shortId(id), shortId(wantedId), `${wanted} has a newer image here`)];
}

/** `nginx` and `docker.io/library/nginx:latest` are the same. */
function fullName(image: string): string {
  try {
    const { registry, repository, tag, digest } = parseReference(image);
    return `${registry}/${repository}:${tag ?? (digest ? "" : "latest")}@${digest ?? ""}`;
  } catch {
    // The id of an image.
    return image;
  }
}

const shortId = (id: string) => id.replace(/^sha256:/, "").slice(0, 12);

function compareSetting(
  key: string,
  from: Setting | undefined,
  to: Setting | undefined,
): Reason[] {
  if (isMap(from ?? {}) && isMap(to ?? {})) {
    const [before, after] = [from ?? {}, to ?? {}] as Record<string, string>[];
    const names = [...new Set([...Object.keys(before!), ...Object.keys(after!)])].sort();
    return names.flatMap((name) => compareEntry(key, name, before![name], after![name]));
  }
  const [before, after] = [from, to].map((value) =>
    value === undefined ? null : typeof value === "string" ? value : JSON.stringify(value)
  ) as [string | null, string | null];
  if (before === after) return [];
  return [reason(key, before, after, `${key} ${changeText(before, after)}`)];
}

function compareEntry(
  key: string,
  name: string,
  from: string | undefined,
  to: string | undefined,
): Reason[] {
  if (from === to) return [];
  const path = `${key}.${name}`;
  const verb = from === undefined ? "added" : to === undefined ? "removed" : "changed";
  // These values may be secrets.
  if (key === "environment" || (key === "logging.options" && SECRET_OPTION.test(name))) {
    const shown = (value: string | undefined) => value === undefined ? null : "(changed)";
    return [reason(path, shown(from), shown(to), `${key}: ${name} ${verb}`)];
  }
  return [reason(path, from ?? null, to ?? null, `${key}: ${name} ${verb}`)];
}

/** E.g. `splunk-token`. */
const SECRET_OPTION = /token|key|password|secret|credential/i;

const changeText = (from: string | null, to: string | null) =>
  from === null ? `set to ${to}` : to === null ? "removed" : `changed from ${from} to ${to}`;

const isMap = (value: Setting) => typeof value === "object" && !Array.isArray(value);

const reason = (path: string, from: string | null, to: string | null, text: string): Reason => ({
  path,
  from: from && cut(from),
  to: to && cut(to),
  text: cut(text),
});

const cut = (text: string) => text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX)}…` : text;

export const serviceOf = ({ Config }: ContainerInspect) => Config.Labels?.[LABEL.service] ?? "";

export const numberOf = ({ Config }: ContainerInspect) =>
  Number(Config.Labels?.[LABEL.containerNumber] ?? 0);
