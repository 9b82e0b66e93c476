/** /api/takeover: stacks that other programs have deployed. @module */

import * as z from "zod";
import { ORIGIN_KINDS } from "../services/compose/origin.ts";
import { giveBack } from "../services/takeover/give_back.ts";
import { readTakeover, startTakeover } from "../services/takeover/start.ts";
import type { Deps } from "../services/deps.ts";
import { limitedRecord } from "../services/input/limited_record.ts";
import { endpoint } from "./contract/endpoint.ts";
import { Done, ENGINE_FAILURES, queryBoolean, Timestamp } from "./contract/shapes.ts";
import { Job } from "./contract/job.ts";
import { Directory, ProjectParams, StackName } from "./stacks/shapes.ts";

const STACKS_MAX = 500;

const FilePath = Directory.meta({
  description: "Of the Compose file: on the host, or as the container with the mount has it",
  example: "/data/compose/12/docker-compose.yml",
});

const Source = z.object({
  kind: z.enum(ORIGIN_KINDS).meta({
    description: "host: a directory of the host; mount: a volume or directory that another " +
      "container has mounted; generated: described from the containers; text: sent to `adopt`",
  }),
  path: z.string().nullable().meta({ description: "Of the Compose file" }),
  through: z.string().optional().meta({ description: "Name of the container with the mount" }),
});

const Plan = z.object({
  changesNothing: z.boolean().meta({
    description: "Whether a deploy would leave the containers as they are; stopped ones would " +
      "be started",
  }),
  recreates: z.array(z.string()).meta({ description: "Services" }),
  creates: z.array(z.string()).meta({ description: "Services that lack containers" }),
  unknown: z.array(z.string()).meta({
    description: "Services of containers that the sources do not have",
  }),
  reasons: z.array(z.string()).meta({ example: ["web: environment: LOG_LEVEL added"] }),
}).meta({ id: "TakeoverPlan" });

const Stack = z.object({
  name: z.string().meta({ example: "shop" }),
  containers: z.array(z.string()).meta({ description: "Names" }),
  source: Source.extend({
    kind: z.enum([...ORIGIN_KINDS, "none"]).meta({ description: "none: nothing was found" }),
  }).meta({ description: "The proposal: of the candidates that change nothing the newest" }),
  candidates: z.array(Source.extend({
    modifiedAt: Timestamp.nullable(),
    plan: Plan.nullable(),
    error: z.string().optional().meta({ description: "Why it cannot be used" }),
  })).meta({ description: "Best first" }),
  plan: Plan.nullable().meta({ description: "Of the proposal" }),
  base: z.string().nullable().meta({
    description: "Directory that relative paths refer to, also where the files are elsewhere",
  }),
  configFile: z.string().nullable().meta({
    description: "The first Compose file in the labels of the containers",
    example: "/home/ada/shop/compose.yaml",
  }),
  manager: z.string().nullable().meta({
    description: "Program in a container that has the files",
    example: "Portainer",
  }),
  unit: z.string().nullable().meta({
    description: "Unit of systemd that owns the containers; such a stack is not taken over",
  }),
  notes: z.array(z.string()),
}).meta({ id: "TakeoverStack" });

const Report = z.object({
  stacks: z.array(Stack),
  directories: z.array(z.object({
    name: z.string(),
    path: z.string().meta({ example: "/opt/stacks/shop" }),
    services: z.array(z.string()),
    error: z.string().optional().meta({ description: "The first error of the files" }),
  })).meta({ description: "Below `STACK_ROOTS`, with a Compose file and without containers" }),
  unlisted: z.array(z.string()).meta({
    description:
      "Directories of `STACK_ROOTS` that the service cannot list, e.g. because it runs in " +
      "a container without them; mount them at the same path",
    example: ["/opt/stacks"],
  }),
  containers: z.array(z.object({
    id: z.string(),
    name: z.string(),
    image: z.string(),
    unit: z.string().nullable(),
  })).meta({ description: "Containers without a stack" }),
  managers: z.array(z.object({
    name: z.string().meta({ example: "Watchtower" }),
    image: z.string(),
    container: z.string(),
    updates: z.enum(["all", "own", "none"]).meta({
      description: "Containers that it updates by itself: all of the host, those of its own " +
        "stacks, or none",
    }),
    stacks: z.array(z.string()),
    setting: z.string().meta({ description: "Ends its updates; empty if it has none" }),
  })).meta({ description: "Other programs that deploy or update containers" }),
  managed: z.array(z.object({ name: z.string(), source: Source, version: z.int() })).meta({
    description: "Stacks that were taken over",
  }),
}).meta({ id: "Takeover" });

const Scan = z.object({ job: Job }).meta({ id: "TakeoverScan" });

const ChosenSource = z.strictObject({
  kind: z.enum(["host", "mount", "generated"]),
  path: FilePath.nullable().default(null),
  through: z.string().min(1).max(255).optional().meta({
    description: "Name of the container with the mount",
  }),
}).refine(({ kind, path }) => kind === "generated" || path !== null, {
  path: ["path"],
  error: "is required unless kind is generated",
});

const WRITE = { role: "admin", permission: "stacks:write" } as const;

export const takeoverEndpoints = (deps: Deps) => [
  endpoint("GET /api/takeover", {
    operationId: "getTakeover",
    summary: "List what can be taken over",
    description: "Stacks that other programs have deployed, with the files that a deploy would " +
      "find unchanged. The first call, and one after a deploy, starts a scan and answers 202 " +
      "with its job. A scan reads files through containers that are never started, and starts, " +
      "stops and writes nothing.",
    ...WRITE,
    query: z.object({
      refresh: queryBoolean({ fallback: false, description: "Whether to scan again" }),
    }),
    returns: Report,
    replies: {
      202: { description: "The scan is running", returns: Scan },
    },
    failures: ENGINE_FAILURES,
  }, async ({ query, caller }) => {
    const found = await readTakeover(deps, caller, query);
    return "report" in found ? found.report : Response.json(Scan.parse(found), { status: 202 });
  }),

  endpoint("POST /api/takeover", {
    operationId: "takeOver",
    summary: "Take over stacks",
    description: "Starts a job that stores the sources of stacks. No container is started, " +
      "stopped or recreated, and no file is written. Files below `STACK_ROOTS` stay the sources " +
      "and can be edited here; all others are copied, and edits are stored here only. The result " +
      "has `taken` and `refused`.",
    ...WRITE,
    body: z.object({
      stacks: z.array(StackName).max(STACKS_MAX).optional().meta({
        description: "Default: all whose plan changes nothing",
      }),
      generate: z.array(z.string().min(1).max(255)).max(STACKS_MAX).optional().meta({
        description: "Containers whose stacks get sources that describe the containers; one " +
          "without a stack becomes one, with `acceptRecreate`",
      }),
      sources: limitedRecord(StackName, ChosenSource, STACKS_MAX).optional().meta({
        description: "Sources by stack instead of the proposals; a file of the host may be " +
          "anywhere",
      }),
      acceptRecreate: z.boolean().default(false).meta({
        description: "Whether stacks are taken over that the next deploy recreates",
      }),
    }).meta({ id: "TakeoverRequest", example: { stacks: ["shop"] } }),
    returns: Job,
    status: 202,
    failures: {
      404: "A stack or container does not exist",
      409: "A deploy would recreate containers, a stack has sources, its files were not found, " +
        "or a unit of systemd owns it",
      ...ENGINE_FAILURES,
    },
  }, async ({ body, caller, note }) => {
    const { job, names } = await startTakeover(deps, caller, body);
    note.targets = names;
    return job;
  }),

  endpoint("DELETE /api/takeover/:name", {
    operationId: "giveBackStack",
    summary: "Give a stack back",
    description: "Removes its sources from Longshore. Containers and files stay as they are, " +
      "also files below `STACK_ROOTS` that were edited here.",
    ...WRITE,
    params: ProjectParams,
    returns: Done,
    failures: {
      404: "The stack has no stored sources",
      409: "The stack was not taken over, or a job works on it",
    },
  }, ({ params }) => giveBack(deps, params.name)),
];
