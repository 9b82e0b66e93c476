/** Shapes of containers that several endpoints share. @module */

import * as z from "zod";
import { ADDRESS_SOURCES } from "../../services/containers/addresses.ts";
import { CONTAINER_STATES } from "../../services/containers/inventory.ts";
import { ENGINE_FAILURES, Timestamp, Warning } from "../contract/shapes.ts";

/**
 * Identifies a container in a path or body. Only the engine's characters for names are allowed, so
 * that no value can lead to another path of its API.
 */
export const ContainerRef = z.string()
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,254}$/, {
    error: "must be an id, an unambiguous prefix of an id, or a name",
  })
  .meta({ description: "Id, unambiguous prefix of an id, or name", example: "web" });

export const ContainerParams = z.object({ id: ContainerRef });

export const ContainerState = z.enum(CONTAINER_STATES).meta({ id: "ContainerState" });

const rate = z.int().nullable();

/** Of a container, between two samples. */
export const rates = {
  networkRxPerSecond: rate.meta({
    description: "Bytes received; null if unknown, as in the first sample and without a network",
    example: 1_250,
  }),
  networkTxPerSecond: rate.meta({ example: 480 }),
  blockReadPerSecond: rate.meta({ description: "Bytes read from disks", example: 0 }),
  blockWritePerSecond: rate.meta({ example: 4_096 }),
};

export const ContainerListItem = z.object({
  id: z.string(),
  name: z.string(),
  image: z.string(),
  imageId: z.string(),
  state: ContainerState,
  status: z.string().meta({ example: "Up 3 minutes (healthy)" }),
  health: z.enum(["starting", "healthy", "unhealthy"]).nullable().meta({
    description: "null for a container without a health check",
  }),
  createdAt: Timestamp.nullable(),
  startedAt: Timestamp.nullable(),
  exitCode: z.int().nullable(),
  restartCount: z.int(),
  ports: z.array(z.object({
    ip: z.string().nullable(),
    privatePort: z.int(),
    publicPort: z.int().nullable(),
    type: z.string(),
  })),
  labels: z.record(z.string(), z.string()).meta({
    description: "In lists at most 100 and 16 KiB; a value of more than 1 KiB ends with `…`",
  }),
  composeProject: z.string().nullable(),
  composeService: z.string().nullable(),
  networks: z.array(z.string()),
  links: z.array(z.object({
    url: z.string().meta({ example: "https://grafana.example.com/" }),
    source: z.enum(ADDRESS_SOURCES),
    certificateExpiresAt: Timestamp.nullable().meta({
      description: "Of a host in `SSL_DOMAINS`, when it was checked last",
    }),
  })).meta({
    description: "Addresses at which people open it, at most 10: by labels (`longshore.url`, " +
      "Traefik's rules, `caddy`, `homepage.href`, `dockhand.url`), by `VIRTUAL_HOST`, and of " +
      "published ports with `PUBLIC_HOST` or bound to one address",
  }),
  icon: z.string().nullable().meta({
    description: "Id of an image, see `GET /api/icons`",
    example: "Xw3vJ0kQm5rYt2LbA9cZfg",
  }),
  group: z.string().nullable().meta({
    description: "By the label `longshore.group` or `homepage.group`, at most 60 characters",
    example: "Monitoring",
  }),
  description: z.string().nullable().meta({
    description: "By the label `longshore.description` or `homepage.description`, one line of " +
      "at most 200 characters",
    example: "Dashboards of all servers",
  }),
  cpuPercent: z.number().nullable().meta({
    description: "100 is one core; null unless running and sampled within the last 45 seconds",
    example: 12.5,
  }),
  memory: z.number().nullable().meta({
    description: "Bytes in use, without page cache; null like cpuPercent",
    example: 52_428_800,
  }),
  ...rates,
  cpuLimit: z.number().nullable().meta({ description: "Cores; null for no limit", example: 1.5 }),
  memoryLimit: z.number().nullable().meta({
    description: "Bytes; null for no limit",
    example: 536_870_912,
  }),
  crashLooping: z.boolean().meta({
    description: "Whether it exits again and again, also while it runs in between",
  }),
  self: z.boolean().meta({ description: "Whether it is the service's own container" }),
  warning: Warning,
}).meta({ id: "Container" });

const ContainerStats = z.object({
  cpuPercent: z.number().meta({ description: "100 is one core" }),
  memoryUsage: z.number().meta({ description: "Bytes, without page cache" }),
  memoryLimit: z.number(),
  memoryPercent: z.number(),
  networkRx: z.number().meta({ description: "Bytes since the container's start" }),
  networkTx: z.number(),
  blockRead: z.number(),
  blockWrite: z.number(),
  pids: z.int(),
  read: Timestamp.meta({ description: "Time of the measurement" }),
}).meta({ id: "ContainerStats" });

export const ContainerDetail = ContainerListItem.extend({
  command: z.array(z.string()),
  entrypoint: z.array(z.string()),
  workingDir: z.string(),
  user: z.string(),
  env: z.array(z.object({ name: z.string(), value: z.string() })).meta({
    description: "Values are redacted unless the caller is an admin",
  }),
  mounts: z.array(z.object({
    type: z.string(),
    name: z.string().nullable(),
    source: z.string(),
    destination: z.string(),
    readOnly: z.boolean(),
  })),
  networkSettings: z.array(z.object({
    name: z.string(),
    networkId: z.string(),
    ipv4: z.string(),
    ipv6: z.string(),
    gateway: z.string(),
    mac: z.string(),
    aliases: z.array(z.string()),
  })),
  restartPolicy: z.object({ name: z.string(), maximumRetryCount: z.int() }),
  limits: z.object({
    memoryBytes: z.number().nullable(),
    memorySwapBytes: z.number().nullable().meta({ description: "Memory and swap together" }),
    cpus: z.number().nullable(),
    pids: z.number().nullable(),
  }).meta({ description: "null means unlimited" }),
  finishedAt: Timestamp.nullable(),
  oomKilled: z.boolean(),
  error: z.string().meta({ description: "Error of the engine if the container could not start" }),
  healthLog: z.array(z.object({
    startedAt: Timestamp.nullable(),
    endedAt: Timestamp.nullable(),
    exitCode: z.int(),
    output: z.string(),
  })),
  stats: ContainerStats.nullable().meta({
    description: "The last sample; null unless running and sampled within the last 45 seconds",
  }),
  previousImage: z.object({
    reference: z.string(),
    replacedAt: Timestamp,
    hasData: z.boolean().meta({
      description: "Whether a rollback can bring back the data from before the update, too",
    }),
  }).nullable().meta({
    description:
      "The image before the last update, as long as it is kept; a rollback goes back to it",
  }),
}).meta({ id: "ContainerDetail" });

export const ActionResult = z.object({
  ok: z.literal(true),
  id: z.string(),
  name: z.string().meta({ example: "web" }),
  state: ContainerState,
  changed: z.boolean().meta({ description: "false if it was already in the requested state" }),
}).meta({ id: "ContainerActionResult" });

/** Failures of the actions on one container. */
export const UNKNOWN = { 404: "The container does not exist", ...ENGINE_FAILURES };
export const BUSY = {
  409: "Another action is in progress, or the engine refuses, e.g. because a port is in use",
};
