/**
 * Descriptions of containers, reduced to what a trial reads. Those in a snapshot may be forged: the engine
 * finds keys in any case and merges objects, so that only exact keys with values of their type are taken.
 *
 * @module
 */

import * as z from "zod";
import type { ContainerInspect } from "../../../engine/containers.ts";
import { AppError } from "../../errors.ts";

/** Longest name of a field in a message. */
const FIELD_MAX = 80;

const text = z.string().nullish();
const number = z.number().nullish();
const flag = z.boolean().nullish();
const texts = z.array(z.string()).nullish();
const table = z.record(z.string(), z.string()).nullish();
const keys = z.record(z.string(), z.object({})).nullish();
/** Path in a container. Podman writes it into a list of options. */
const path = z.string().regex(/^[^,:"\r\n]+$/);
const present = z.array(z.unknown()).nullish();

const Config = z.object({
  Hostname: text,
  Domainname: text,
  User: text,
  ExposedPorts: keys,
  Tty: flag,
  OpenStdin: flag,
  Env: texts,
  Cmd: texts,
  Healthcheck: z.object({
    Test: texts,
    Interval: number,
    Timeout: number,
    StartPeriod: number,
    StartInterval: number,
    Retries: number,
  }).nullish(),
  ArgsEscaped: flag,
  Volumes: z.record(path, z.object({})).nullish(),
  WorkingDir: text,
  Entrypoint: texts,
  NetworkDisabled: flag,
  Labels: table,
  StopSignal: text,
  StopTimeout: number,
  Shell: texts,
});

const Mount = z.object({
  Type: text,
  Source: text,
  Target: path.nullish(),
  ReadOnly: flag,
  VolumeOptions: z.object({ Subpath: path.nullish() }).nullish(),
  TmpfsOptions: z.object({ SizeBytes: number, Mode: number }).nullish(),
});

const HostConfig = z.object({
  Binds: texts,
  Mounts: z.array(Mount).nullish(),
  Tmpfs: z.record(path, z.string()).nullish(),
  NetworkMode: text,
  IpcMode: text,
  PidMode: text,
  UTSMode: text,
  UsernsMode: text,
  Links: texts,
  Privileged: flag,
  Devices: z.array(z.object({})).nullish(),
  DeviceRequests: present,
  DeviceCgroupRules: present,
  CapAdd: texts,
  CapDrop: texts,
  SecurityOpt: texts,
  Sysctls: table,
  Runtime: text,
  ReadonlyRootfs: flag,
  GroupAdd: texts,
  Init: flag,
  ExtraHosts: texts,
  RestartPolicy: z.object({ Name: text, MaximumRetryCount: number }).nullish(),
  ShmSize: number,
  Memory: number,
  MemoryReservation: number,
  MemorySwap: number,
  MemorySwappiness: number,
  PidsLimit: number,
  NanoCpus: number,
  CpuShares: number,
  CpuQuota: number,
  CpuPeriod: number,
  CpusetCpus: text,
  Ulimits: z.array(z.object({ Name: text, Soft: number, Hard: number })).nullish(),
  StorageOpt: z.object({ size: text }).nullish(),
});

const Described = z.object({
  Config,
  HostConfig,
  Mounts: z.array(z.object({
    Type: text,
    Name: text,
    Source: text,
    Destination: path,
    RW: flag,
  })).nullish(),
  NetworkSettings: z.object({
    Networks: z.record(
      z.string(),
      z.object({ NetworkID: text, Aliases: texts, DNSNames: texts, Links: texts }),
    ).nullish(),
  }),
});

export type DescribedSettings = Pick<
  ContainerInspect,
  "Config" | "HostConfig" | "Mounts" | "NetworkSettings"
>;

/**
 * Takes over what a trial reads of a description.
 *
 * @param name Of the container, for the message.
 * @throws {AppError} `conflict`, naming the first field of another type.
 */
export function readSettings(name: string, described: DescribedSettings): DescribedSettings {
  const { data, error } = Described.safeParse(described);
  if (data) return data as unknown as DescribedSettings;
  const field = error!.issues[0]!.path.join(".").slice(0, FIELD_MAX);
  throw new AppError("conflict", `It cannot be tried out: ${name} has an unknown form of ${field}`);
}
