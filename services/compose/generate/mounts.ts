/** The mounts of a container as `volumes` of a service. @module */

import type { ContainerInspect, MountPoint, MountRequest } from "../../../engine/containers.ts";
import { ANONYMOUS } from "../plan/mounts.ts";
import type { ServiceContext } from "./context.ts";
import { given, literal, type Part } from "./part.ts";

/** Volumes that the image declares are left to it. */
export function volumesOf(inspect: ContainerInspect, context: ServiceContext): unknown[] {
  const { HostConfig: { Binds, Mounts, VolumesFrom }, Config } = inspect;
  const declared = Object.keys(context.image?.Volumes ?? {});
  const requests = new Map((Mounts ?? []).map((mount) => [mount.Target ?? "", mount]));
  const binds = new Map(
    (Binds ?? []).map((bind) => bind.split(":")).map(([, target = "", options = ""]) => [
      target,
      options.split(",").filter((option) => option && option !== "rw"),
    ]),
  );
  const isOwn = ({ Destination }: MountPoint) =>
    !VolumesFrom?.length || requests.has(Destination) || binds.has(Destination) ||
    Object.hasOwn(Config.Volumes ?? {}, Destination);
  const listed = (inspect.Mounts ?? []).filter(isOwn).flatMap((mount) => {
    const request = requests.get(mount.Destination);
    if (request) return [longMount(mount, request, context)];
    if (mount.Type === "volume" && (!mount.Name || ANONYMOUS.test(mount.Name))) {
      return declared.includes(mount.Destination) ? [] : [literal(mount.Destination)];
    }
    return [shortMount(mount, binds.get(mount.Destination) ?? [], context)];
  });
  // A mount of the type tmpfs is not among the mounts of every engine.
  const missing = [...requests.values()].filter(({ Type, Target }) =>
    Type === "tmpfs" && !inspect.Mounts?.some(({ Destination }) => Destination === Target)
  );
  return [...listed, ...missing.map((request) => tmpfsMount(request))];
}

function shortMount(
  { Type, Name = "", Source = "", Destination, RW }: MountPoint,
  options: readonly string[],
  { volumeKey }: ServiceContext,
): unknown {
  const source = Type === "volume" ? volumeKey(Name) : Source;
  if (source.includes(":") || Destination.includes(":")) {
    return given({ type: Type, source, target: Destination, read_only: RW === false || undefined });
  }
  const all = [...new Set([...options, ...(RW === false ? ["ro"] : [])])];
  return literal([source, Destination, ...(all.length > 0 ? [all.join(",")] : [])].join(":"));
}

function longMount(mount: MountPoint, request: MountRequest, { volumeKey }: ServiceContext): Part {
  const { Type, Source, Target, ReadOnly, Consistency, BindOptions, VolumeOptions } = request;
  if (Type === "tmpfs") return tmpfsMount(request);
  const name = mount.Name || Source || "";
  const isAnonymous = Type === "volume" && ANONYMOUS.test(name);
  return given({
    type: Type,
    source: isAnonymous ? undefined : literal(Type === "volume" ? volumeKey(name) : Source ?? ""),
    target: literal(Target ?? ""),
    read_only: ReadOnly || undefined,
    consistency: Consistency === "default" ? undefined : Consistency,
    bind: given({
      propagation: BindOptions?.Propagation === "rprivate" ? undefined : BindOptions?.Propagation,
      recursive: BindOptions?.NonRecursive ? "disabled" : undefined,
    }),
    volume: given({
      nocopy: VolumeOptions?.NoCopy || undefined,
      subpath: VolumeOptions?.Subpath,
    }),
  });
}

const tmpfsMount = ({ Target = "", ReadOnly, TmpfsOptions }: MountRequest): Part =>
  given({
    type: "tmpfs",
    target: literal(Target),
    read_only: ReadOnly || undefined,
    tmpfs: given({
      size: TmpfsOptions?.SizeBytes,
      // Octal, which YAML reads in two ways unless it is quoted.
      mode: TmpfsOptions?.Mode && `0${Number(TmpfsOptions.Mode).toString(8)}`,
    }),
  });
