/** /api/fleet/waves and /api/fleet/blocked: the order in which hosts get new images, and what failed. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import { notFound } from "../../services/errors.ts";
import { liftBlock, nameOfCaller } from "../../services/fleet/waves/hub.ts";
import { changeWaveSettings } from "../../services/fleet/waves/settings.ts";
import { keyOfId, listBlocks, viewWaves } from "../../services/fleet/waves/views.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, Timestamp } from "../contract/shapes.ts";
import { HostName } from "./shapes.ts";

/** Limits of the setting. */
const WAVES_MAX = 10;
const HOSTS_MAX = 100;
const SOAK_HOURS_MAX = 720;

const WaveLabel = z.string().regex(/^[a-z][a-z0-9._-]{0,62}(=[^\p{Cc}]{0,63})?$/u, {
  error: "must be a label of hosts, `key` or `key=value`",
});

const Settings = z.object({
  waves: z.array(WaveLabel).max(WAVES_MAX)
    .refine((waves) => new Set(waves).size === waves.length, { error: "must differ" })
    .meta({
      description:
        "Labels of hosts, `key` or `key=value`, the first wave first; a host is in the " +
        "first one whose label it has, and hosts without one come last. Empty: all at once",
      example: ["wave=canary", "wave=home", "wave=shop"],
    }),
  hosts: z.int().min(1).max(HOSTS_MAX).meta({
    description: "Hosts of a wave on which an image must work before the next wave gets it",
  }),
  soakHours: z.int().min(0).max(SOAK_HOURS_MAX).meta({
    description: "Hours for which it must stay well there",
  }),
});

const Changes = Settings.partial().meta({
  id: "FleetWaveChanges",
  example: { waves: ["wave=canary", "wave=home"], soakHours: 24 },
});

const Image = {
  digest: z.string().meta({ example: `sha256:${"2c26b46b".repeat(8)}` }),
  platform: z.string().meta({ example: "linux/amd64" }),
  image: z.string().meta({ example: "nginx:1.27" }),
};

const Waves = Settings.extend({
  images: z.array(z.object({
    ...Image,
    since: Timestamp.meta({ description: "When the first host had it" }),
    isBlocked: z.boolean(),
    progress: z.array(z.object({
      wave: z.int().meta({ description: "Index in `waves`; behind the last one: other hosts" }),
      users: z.int().meta({ description: "Hosts that use the image, or may use it" }),
      proofs: z.int().meta({ description: "Hosts on which it worked for long enough" }),
      required: z.int().meta({ description: "Hosts that the next wave waits for" }),
    })),
  })).meta({ description: "New images that hosts have had, newest first, at most 50" }),
}).meta({ id: "FleetWaves" });

const Blocked = z.object({
  id: z.string().meta({ example: `linux-amd64-sha256:${"2c26b46b".repeat(8)}` }),
  ...Image,
  host: z.string().meta({ description: "Host that it failed on", example: "edge-7" }),
  container: z.string().meta({ example: "web" }),
  reason: z.string().meta({ example: "web exited with code 1" }),
  log: z.array(z.string()).meta({
    description: "The last lines of the container; requires `containers:logs`",
  }),
  at: Timestamp,
  affected: z.array(z.object({
    hostId: z.string(),
    host: HostName,
    container: z.string(),
    canGoBack: z.boolean().meta({
      description: "Whether `POST /api/containers/{id}/rollback` of the host has an image to go to",
    }),
  })).meta({ description: "Containers that run it" }),
}).meta({ id: "FleetBlockedImage" });

const READ = { role: "viewer", permission: "fleet:read" } as const;
const WRITE = { role: "admin", permission: "fleet:write" } as const;

export const waveEndpoints = (deps: Deps) => [
  endpoint("GET /api/fleet/waves", {
    operationId: "getFleetWaves",
    summary: "Get the waves",
    description: "The order in which hosts get new images automatically, and where each image is.",
    ...READ,
    returns: Waves,
  }, () => viewWaves(deps)),

  endpoint("PUT /api/fleet/waves", {
    operationId: "updateFleetWaves",
    summary: "Update the waves",
    description: "Omitted fields keep their values.",
    ...WRITE,
    body: Changes,
    returns: Waves,
  }, ({ body }) => {
    changeWaveSettings(deps, body);
    return viewWaves(deps);
  }),

  endpoint("GET /api/fleet/blocked", {
    operationId: "listFleetBlocked",
    summary: "List blocked images",
    description: "Images that failed on a host of the fleet, newest first. No host gets them " +
      "automatically, and an update by hand needs `force`.",
    ...READ,
    returns: z.object({ blocked: z.array(Blocked) }).meta({ id: "FleetBlockedImageList" }),
  }, ({ caller }) => ({ blocked: listBlocks(deps, caller) })),

  endpoint("DELETE /api/fleet/blocked/:id", {
    operationId: "deleteFleetBlocked",
    summary: "Delete a blocked image",
    description: "Hosts may get the image again, also automatically. The host that it failed on " +
      "keeps its own block (`DELETE /api/updates/blocked/{id}` there).",
    ...WRITE,
    returns: Done,
    failures: { 404: "The image is not blocked" },
  }, async ({ params, caller, note }) => {
    const key = keyOfId(params.id);
    if (!key) throw notFound("Blocked image", params.id);
    const { image } = await liftBlock(deps, key, nameOfCaller(caller));
    note.targets = [image, key.digest];
  }),
];
