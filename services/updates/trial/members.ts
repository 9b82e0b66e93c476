/**
 * Containers of a trial: copies of others that run for a moment on copies of their data, in a private
 * network without a way out, to find out whether they work.
 *
 * @module
 */

import type {
  ContainerInspect,
  EndpointSettings,
  MountPoint,
  RestartPolicy,
} from "../../../engine/containers.ts";
import { sharedContainer } from "../../../engine/containers.ts";
import type { ImageInspect } from "../../../engine/images.ts";
import type { MountSource } from "../../containers/helper_container.ts";
import { type Dependency, parseDependsOn, startOrder } from "../../containers/order.ts";
import { refersTo } from "../../containers/share_group.ts";
import { AppError } from "../../errors.ts";
import { DEPENDS_ON_LABEL } from "../../stacks/groups.ts";
import { type DescribedSettings, readSettings } from "./described.ts";
import { planRecreation, type RecreateOptions, type Recreation } from "../recreate/recreate.ts";

/** Container as a trial copies it. */
export interface TrialMember {
  /** Name of the container that it is like; messages name it. */
  name: string;
  /** Id of that one; empty if it is not known. */
  id: string;
  /** Its service in the stack. */
  service: string | null;
  /** The requests that would create such a container. */
  recreation: Recreation;
  mounts: readonly MountPoint[];
  /** Its networks by name, for the names that it has there. */
  networks: Readonly<Record<string, EndpointSettings>>;
  /** By which its end is judged: the copy itself is never restarted. */
  restartPolicy: RestartPolicy | undefined;
  dependencies: readonly Dependency[];
}

/**
 * Plans the copy of a container.
 *
 * @param old A container as the engine describes it, or a snapshot.
 * @param images.own Image of that container, whose settings are left to the new one.
 * @throws {AppError} `conflict` for a description of an unknown form.
 */
export function planMember(
  old: DescribedSettings & Pick<TrialMember, "name" | "id" | "service">,
  { own, image }: { own: ImageInspect | undefined; image: ImageInspect },
  engine: Pick<RecreateOptions, "apiVersion" | "defaultRuntime">,
): TrialMember {
  const { id, name, service } = old;
  const settings = readSettings(name, old);
  const { Config, HostConfig, Mounts, NetworkSettings } = settings;
  return {
    name,
    id,
    service,
    recreation: planRecreation({ ...settings, Id: id } as ContainerInspect, {
      image: own?.Config,
      reference: image.Id,
      ...engine,
    }),
    mounts: Mounts ?? [],
    networks: NetworkSettings.Networks ?? {},
    restartPolicy: HostConfig.RestartPolicy,
    dependencies: parseDependsOn(Config.Labels?.[DEPENDS_ON_LABEL]),
  };
}

const MODES = ["NetworkMode", "IpcMode", "PidMode"] as const;

/** Ids or names of the containers whose namespaces or names it uses. */
const referencesOf = (
  { recreation: { create: { HostConfig = {} } } }: Pick<TrialMember, "recreation">,
): string[] => [
  ...MODES.flatMap((mode) => sharedContainer(HostConfig[mode]) ?? []),
  ...(HostConfig.Links ?? []).map((link) => link.split(":")[0]!),
];

/** Members in the order in which they start: those that others depend on first. */
export function inStartOrder(members: readonly TrialMember[]): TrialMember[] {
  const byName = new Map(members.map((member) => [member.name, member]));
  const levels = startOrder(
    new Map(members.map((member) => [
      member.name,
      members.filter((other) => dependsOn(member, other)).map(({ name }) => name),
    ])),
  );
  return levels.flat().map((name) => byName.get(name)!);
}

function dependsOn(member: TrialMember, other: TrialMember): boolean {
  return member.dependencies.some(({ service }) => service === other.service) ||
    referencesOf(member).some((ref) => refersTo(ref, other));
}

/** The sources of the members' mounts, each once. */
export function sourcesOf(members: readonly Pick<TrialMember, "mounts">[]): MountSource[] {
  const sources = members.flatMap(({ mounts }) => mounts.flatMap((each) => sourceOf(each) ?? []));
  return [...new Map(sources.map((source) => [keyOf(source), source])).values()];
}

/** @returns `undefined` for what has no data of its own, e.g. a file system in memory. */
export function sourceOf({ Type, Name, Source }: MountPoint): MountSource | undefined {
  if (Type === "volume" && Name) return { type: "volume", source: Name };
  if (Type === "bind" && Source) return { type: "bind", source: Source };
}

/** Identifies a source among others. */
export const keyOf = ({ type, source }: MountSource): string => `${type}:${source}`;

/** Rights that have no effect outside of a container: those that it has by default, and some more. */
const CAPABILITIES =
  /^(?:CAP_)?(?:AUDIT_WRITE|CHOWN|DAC_OVERRIDE|FOWNER|FSETID|IPC_LOCK|KILL|LEASE|MKNOD|NET_BIND_SERVICE|NET_RAW|SETFCAP|SETGID|SETPCAP|SETUID|SYS_CHROOT|SYS_NICE|SYS_PTRACE)$/i;

/** Options of the engine's default protection, or a stricter one; a profile could allow anything. */
const SECURITY_OPTIONS =
  /^(?:no-new-privileges(?:[:=](?:true|false))?|apparmor[:=]docker-default|seccomp[:=]builtin)$/;

/** Names of the engines' own runtimes; Podman describes them as `oci`. */
const RUNTIMES = ["", "runc", "io.containerd.runc.v2", "crun", "oci"];

/** Longest foreign text in a message. */
const TEXT_MAX = 40;

/**
 * Refuses containers that could do harm outside of a trial.
 *
 * @throws {AppError} `conflict`, naming what each of them has.
 */
export function assertHarmless(members: readonly TrialMember[]): void {
  const harmful = members.flatMap((member) =>
    dangersOf(member, members).map((danger) => `${member.name} ${danger}`)
  );
  if (harmful.length === 0) return;
  throw new AppError("conflict", `It cannot be tried out: ${harmful.join("; ")}`);
}

function dangersOf(member: TrialMember, members: readonly TrialMember[]): string[] {
  const { HostConfig = {} } = member.recreation.create;
  const devices = [HostConfig.Devices, HostConfig.DeviceRequests, HostConfig.DeviceCgroupRules];
  const dangers: [isSo: boolean, text: string][] = [
    [HostConfig.Privileged === true, "is privileged"],
    [devices.some((list) => list?.length), "has devices of the host"],
    [HostConfig.NetworkMode === "host", "is in the host's network"],
    [HostConfig.PidMode === "host", "sees the host's processes"],
    [HostConfig.IpcMode === "host", "shares the host's memory"],
    [HostConfig.UTSMode === "host", "shares the host's name"],
    [HostConfig.UsernsMode === "host", "has the host's users"],
    [!RUNTIMES.includes(HostConfig.Runtime ?? ""), "has a runtime that is not the default one"],
  ];
  const capability = HostConfig.CapAdd?.find((each) => !CAPABILITIES.test(each));
  const option = HostConfig.SecurityOpt?.find((each) => !SECURITY_OPTIONS.test(each));
  const missing = MODES.map((mode) => sharedContainer(HostConfig[mode]))
    .find((ref) => ref !== undefined && !members.some((other) => refersTo(ref, other)));
  return [
    ...dangers.flatMap(([isSo, text]) => isSo ? text : []),
    ...(capability === undefined ? [] : [`has the capability ${capability.slice(0, TEXT_MAX)}`]),
    ...(option === undefined ? [] : [`has the security option ${option.slice(0, TEXT_MAX)}`]),
    ...(missing === undefined
      ? []
      : ["shares a namespace with a container that is not part of it"]),
  ];
}
