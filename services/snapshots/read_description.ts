/** Description of a stack, read from a snapshot. Others may have written it. @module */

import * as z from "zod";
import { findReference } from "../../engine/image_reference.ts";
import type { Repository } from "../backup/restic/repository.ts";
import type { Snapshot } from "../backup/restic/snapshot.ts";
import { bytesOf } from "../backup/restic/entry_directory.ts";
import { translated } from "../backup/targets/repository.ts";
import { ORIGIN_KINDS } from "../compose/origin.ts";
import type { StoredSources } from "../compose/validate.ts";
import { AppError } from "../errors.ts";
import { STACK_KINDS } from "../stacks/groups.ts";
import { DESCRIPTION_FILE, type StackDescription } from "./description.ts";

/** Largest description, in bytes: sources have at most 4 MiB of texts, in JSON twice that. */
const BYTES_MAX = 32 * 1024 * 1024;

/** Longest name, which messages repeat. */
const NAME_MAX = 300;

const Name = z.string().max(NAME_MAX);

/** The id of an image: other names could be any image of this host. */
const IMAGE_ID = /^(?:sha256:)?[0-9a-f]{64}$/;

const DIGEST = /^sha256:[0-9a-f]{64}$/;

/** Whether it names an image of a registry by its content only, as `name@sha256:…`. */
function isDigest(text: string): boolean {
  const { tag, digest } = findReference(text) ?? {};
  return tag === undefined && digest !== undefined && DIGEST.test(digest);
}

const Texts = z.record(z.string(), z.string());

const Place = z.object({
  directory: z.string().startsWith("/"),
  configFiles: z.array(z.string().startsWith("/")).min(1),
  isFound: z.boolean().optional(),
  envFiles: z.array(z.string().startsWith("/")).optional(),
});

const Sources = z.object({
  compose: z.string(),
  env: z.union([z.string(), Texts]).optional(),
  files: Texts.optional(),
  profiles: z.array(z.string()).optional(),
  place: Place.optional(),
  base: Place.optional(),
  outside: Texts.optional(),
  recovered: Texts.optional(),
  origin: z.object({
    kind: z.enum(ORIGIN_KINDS),
    path: z.string().nullable(),
    through: z.string().optional(),
  }).optional(),
});

const Mount = z.looseObject({
  Type: z.string().optional(),
  Name: z.string().optional(),
  Destination: z.string(),
});

/** Only exact fields: the engine would find others in any case. */
const Network = z.object({
  Name,
  Driver: Name.optional(),
  Internal: z.boolean().optional(),
  Attachable: z.boolean().optional(),
  EnableIPv4: z.boolean().optional(),
  EnableIPv6: z.boolean().optional(),
  IPAM: z.object({
    Driver: Name.optional(),
    Options: Texts.optional(),
    Config: z.array(z.object({
      Subnet: Name.optional(),
      IPRange: Name.optional(),
      Gateway: Name.optional(),
      AuxiliaryAddresses: Texts.nullish(),
    })),
  }).optional(),
  Options: Texts.nullish(),
  Labels: Texts.nullish(),
});

const Description = z.object({
  version: z.literal(1),
  stack: z.string(),
  sources: z.object({
    version: z.int(),
    kind: z.enum(STACK_KINDS),
    sources: Sources,
  }).nullable(),
  generated: z.string().nullable().default(null),
  containers: z.array(z.object({
    id: z.string().optional(),
    name: Name,
    service: Name.nullable(),
    image: Name,
    imageId: z.string().regex(IMAGE_ID),
    ran: z.boolean().optional(),
    digests: z.array(z.string()).transform((all) => all.filter(isDigest)),
    inspect: z.looseObject({
      Config: z.looseObject({ Labels: Texts.nullish() }),
      HostConfig: z.looseObject({}),
      Mounts: z.array(Mount).nullish(),
      NetworkSettings: z.looseObject({}),
    }),
  })),
  volumes: z.array(z.object({
    name: Name,
    driver: Name,
    labels: Texts,
    options: Texts,
  })),
  networks: z.array(Network).default([]),
});

/** Name of the stack in a snapshot, if it is of one. */
export const stackIn = ({ paths }: Pick<Snapshot, "paths">): string | undefined =>
  paths.flatMap((path) => /^\/stacks\/([^/]+)$/.exec(path)?.[1] ?? [])[0];

/** @throws {AppError} `conflict` for a snapshot without a description that this version knows. */
export async function readDescription(
  repository: Repository,
  { id, stack }: { id: string; stack: string },
  signal: AbortSignal,
): Promise<StackDescription> {
  const path = bytesOf(`stacks/${stack}/${DESCRIPTION_FILE}`);
  const pieces: Uint8Array[] = [];
  let size = 0;
  await translated(async () => {
    for await (const piece of repository.readFile(id, path, {}, signal)) {
      if ((size += piece.length) > BYTES_MAX) throw unknownDescription(stack);
      pieces.push(piece);
    }
  });
  try {
    const text = await new Blob(pieces as Uint8Array<ArrayBuffer>[]).text();
    return { ...Description.parse(JSON.parse(text)) as StackDescription, stack };
  } catch (error) {
    throw unknownDescription(stack, error);
  }
}

const unknownDescription = (stack: string, cause?: unknown) =>
  new AppError("conflict", `The snapshot does not describe stack ${stack} in a known form`, {
    cause,
  });

/**
 * The sources of a described stack: those that were stored, or the text written from its containers.
 *
 * @throws {AppError} `conflict` without either.
 */
export function sourcesOf({ stack, sources, generated }: StackDescription): StoredSources {
  if (sources) {
    if (sources.kind === "compose") return sources.sources;
    throw new AppError("conflict", `Stack ${stack} is managed by Swarm; restore its volumes`);
  }
  if (generated !== null) {
    return { compose: generated, origin: { kind: "generated", path: null } };
  }
  throw new AppError(
    "conflict",
    `The snapshot has no sources of ${stack}, and its containers could not be described as a ` +
      "Compose file; restore its volumes",
  );
}
