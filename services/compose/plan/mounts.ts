/** The mounts of a service and of a container in one form. @module */

import type {
  ContainerConfig,
  ContainerInspect,
  HostConfig,
  MountPoint,
} from "../../../engine/containers.ts";
import { LABEL } from "../labels.ts";
import type { FileGrant } from "../load/grants.ts";
import type { Project, Service } from "../load/resolve.ts";
import type { Mount } from "../load/mounts.ts";
import { isAbsolutePath } from "../load/paths.ts";

/** Names of volumes that the engine chose. */
export const ANONYMOUS = /^[0-9a-f]{64}$/;

/**
 * Paths of the anonymous volumes that a container has from its image or kept before, and that neither
 * the service nor a new image has: they have data, and stay.
 */
export function keptVolumes(
  { volumes = [], tmpfs = [] }: Pick<Service, "volumes" | "tmpfs">,
  imageVolumes: readonly string[],
  { Config, Mounts }: Pick<ContainerInspect, "Config" | "Mounts">,
): string[] {
  const taken = new Set([
    ...imageVolumes,
    ...volumes.map(({ target }) => target),
    ...tmpfs.map((entry) => entry.split(":")[0]),
  ]);
  const own = new Set([...Object.keys(Config.Volumes ?? {}), ...labelledVolumes(Config)]);
  return (Mounts ?? []).filter(({ Type, Name = "", Destination }) =>
    Type === "volume" && ANONYMOUS.test(Name) && own.has(Destination) && !taken.has(Destination)
  ).map(({ Destination }) => Destination);
}

/** Those of {@linkcode LABEL}. An image may have any text there. */
function labelledVolumes({ Labels }: Pick<ContainerConfig, "Labels">): string[] {
  try {
    const paths: unknown = JSON.parse(Labels?.[LABEL.keptVolumes] ?? "[]");
    return Array.isArray(paths) ? paths.filter((path) => typeof path === "string") : [];
  } catch {
    return [];
  }
}

/** Propagation that the engine uses for a bind mount. */
const DEFAULT_PROPAGATION = "rprivate";

/** The mounts of the model by target. Configs and secrets that are copied are not among them. */
export function wantedMounts(service: Service, project: Project): Record<string, string> {
  const volumes = (service.volumes ?? []).map((mount) => [
    mount.target,
    mountText(
      mount.type,
      mount.type === "volume" && mount.source !== undefined
        ? project.volumes[mount.source]?.name ?? mount.source
        : mount.source ?? "",
      [mount.read_only ? "read-only" : "", ...optionsOf(mount)],
    ),
  ]);
  const granted = grantsOf(service, project).flatMap(({ file, target }) =>
    file === undefined ? [] : [[target, mountText("bind", file, ["read-only"])]]
  );
  return Object.fromEntries([...volumes, ...granted]);
}

function optionsOf({ bind, volume, tmpfs, image }: Mount): string[] {
  const { propagation, selinux, recursive } = bind ?? {};
  const subpath = volume?.subpath ?? image?.subpath;
  return [
    propagation === DEFAULT_PROPAGATION ? "" : propagation ?? "",
    selinux ?? "",
    recursive && recursive !== "enabled" ? `recursive ${recursive}` : "",
    volume?.nocopy ? "nocopy" : "",
    subpath ? `subpath ${subpath}` : "",
    tmpfs?.size ? `size ${tmpfs.size}` : "",
    tmpfs?.mode ? `mode ${tmpfs.mode}` : "",
  ];
}

/**
 * The mounts of a container by target, without those of its volumes_from.
 *
 * @param service Says which file systems in memory are among them: Podman describes all as `tmpfs`.
 */
export function foundMounts(
  own: ContainerConfig,
  host: HostConfig,
  { Config, Mounts }: ContainerInspect,
  { volumes = [] }: Pick<Service, "volumes">,
): Record<string, string> {
  const kept = new Set(labelledVolumes(Config));
  const isKept = ({ Name = "", Destination }: MountPoint) =>
    kept.has(Destination) && ANONYMOUS.test(Name) &&
    !volumes.some(({ target }) => target === Destination);
  const requests = new Map<string, readonly string[]>([
    ...Object.keys(own.Volumes ?? {}).map((target) => [target, []] as const),
    ...(host.Binds ?? []).map(requestOfBind),
    ...(host.Mounts ?? []).map((mount) => [mount.Target ?? "", requestOptions(mount)] as const),
  ]);
  const mounts = (Mounts ?? []).filter((mount) =>
    !isKept(mount) && (!host.VolumesFrom?.length || requests.has(mount.Destination))
  );
  const inMemory = volumes.flatMap(({ type, target }) => {
    const options = host.Tmpfs?.[target];
    return type === "tmpfs" && options !== undefined ? [[target, tmpfsText(options)] as const] : [];
  });
  return Object.fromEntries([
    ...inMemory,
    ...mounts.map(({ Type = "", Name = "", Source = "", Destination, RW }) =>
      [
        Destination,
        mountText(
          Type,
          Type === "tmpfs" || ANONYMOUS.test(Name) ? "" : Name || Source,
          [RW === false ? "read-only" : "", ...requests.get(Destination) ?? []],
        ),
      ] as const
    ),
  ]);
}

/** E.g. `size=1048576,mode=700,rw`. */
function tmpfsText(options: string): string {
  const values = new Map(
    options.split(",").map((
      each,
    ): [string, string] => [each.split("=")[0]!, each.split("=")[1] ?? ""]),
  );
  const [size, mode] = [values.get("size"), values.get("mode")];
  return mountText("tmpfs", "", [
    values.has("ro") ? "read-only" : "",
    size ? `size ${size}` : "",
    mode ? `mode 0${mode}` : "",
  ]);
}

/**
 * The configs and secrets of a service in the container: with a `file` of the host, which is mounted,
 * or copied.
 */
export function grantsOf(
  { configs = [], secrets = [] }: Service,
  project: Pick<Project, "configs" | "secrets">,
): { target: string; file: string | undefined }[] {
  const fileOf = (file: string | undefined) => file && isAbsolutePath(file) ? file : undefined;
  return [
    ...configs.map((grant) => ({
      target: targetOf(grant, "/"),
      file: fileOf(project.configs[grant.source]?.file),
    })),
    ...secrets.map((grant) => ({
      target: targetOf(grant, "/run/secrets/"),
      file: fileOf(project.secrets[grant.source]?.file),
    })),
  ];
}

const BIND_OPTION = /^(?:z|Z|nocopy|r?shared|r?slave|private)$/;

const targetOf = ({ source, target = source }: FileGrant, directory: string) =>
  target.startsWith("/") ? target : `${directory}${target}`;

/** `source:target:options`. The actual propagation is the engine's choice if none is given. */
function requestOfBind(bind: string): readonly [target: string, options: string[]] {
  const [, target = "", options = ""] = bind.split(":");
  return [target, options.split(",").filter((option) => BIND_OPTION.test(option))];
}

function requestOptions(
  { BindOptions, VolumeOptions, TmpfsOptions, ImageOptions }: NonNullable<
    HostConfig["Mounts"]
  >[number],
): string[] {
  const { NoCopy, Subpath = ImageOptions?.Subpath } = VolumeOptions ?? {};
  const { SizeBytes, Mode } = TmpfsOptions ?? {};
  const { Propagation, NonRecursive, ReadOnlyNonRecursive, ReadOnlyForceRecursive } = BindOptions ??
    {};
  return [
    Propagation && Propagation !== DEFAULT_PROPAGATION ? String(Propagation) : "",
    NonRecursive ? "recursive disabled" : "",
    ReadOnlyNonRecursive ? "recursive writable" : "",
    ReadOnlyForceRecursive ? "recursive readonly" : "",
    NoCopy ? "nocopy" : "",
    Subpath ? `subpath ${Subpath}` : "",
    SizeBytes ? `size ${SizeBytes}` : "",
    Mode ? `mode 0${Number(Mode).toString(8)}` : "",
  ];
}

const mountText = (type: string, source: string, options: readonly string[]) =>
  [type, source, ...options].filter(Boolean).join(" ");
