/**
 * Rows and frames of `GET /api/feed`, by which a hub follows the lists of a host. Rows are small, so that
 * a hub can hold those of all hosts; their limits are also those of what a host may send.
 *
 * @module
 */

import * as z from "zod";

/** Longest text in a row, in characters. */
export const LINE_MAX = 512;

const Word = z.string().max(64);
const Line = z.string().max(LINE_MAX);
const Time = z.string().max(40);
const Count = z.int().min(0);

export const HostAllows = z.enum(["read", "operate", "admin"]).nullable().meta({
  description: "What it allows users of this server at most (its FLEET_ALLOW); null if not known",
});

export const HostFigures = z.object({
  engine: Word.nullable().meta({ description: "Version of its engine; null if unreachable" }),
  cpuPercent: z.number(),
  cpuCount: z.number(),
  memoryPercent: z.number(),
  diskPercent: z.number(),
  allows: HostAllows.default(null),
});

const ContainerRow = z.object({
  /** It is a part of paths. */
  id: z.string().regex(/^[\w.-]{1,128}$/),
  name: Line,
  image: Line,
  state: Word,
  health: Word.nullable(),
  stack: Line.nullable(),
  createdAt: Time.nullable(),
  startedAt: Time.nullable(),
  crashLooping: z.boolean(),
  self: z.boolean(),
  replaced: z.boolean().default(false).meta({
    description:
      "Whether an update or a deploy replaces it now, so that it may not run for a moment",
  }),
});

const STACK_KINDS = ["compose", "swarm"] as const;

const StackRow = z.object({
  id: Line,
  name: Line,
  kind: z.enum(STACK_KINDS),
  status: Word,
  services: Count,
  containerCount: Count,
  running: Count,
  unhealthy: Count,
});

const AlertRow = z.object({
  id: Line,
  ruleName: Line,
  severity: Word,
  message: Line,
  container: Line.nullable(),
  stack: Line.nullable(),
  firedAt: Time,
  acknowledgedAt: Time.nullable(),
});

const UpdateRow = z.object({
  id: Line,
  image: Line,
  status: Word,
  tag: Line.nullable(),
  newestTag: Line.nullable(),
  checkedAt: Time.nullable(),
  containers: z.array(z.object({ name: Line, stack: Line.nullable() })).max(2_000),
});

/** Rows of each list. */
export const ROWS = {
  containers: ContainerRow,
  stacks: StackRow,
  alerts: AlertRow,
  updates: UpdateRow,
} as const;

/** Limits of the rows of a host by list. */
export const ROWS_MAX = { containers: 2_000, stacks: 500, alerts: 500, updates: 1_000 } as const;

export type ListName = keyof typeof ROWS;
export const LIST_NAMES = Object.keys(ROWS) as ListName[];

/** Everything that a hub has of a host. */
export const PARTS = ["host", ...LIST_NAMES] as const;
export type Part = ListName | "host";

export type Rows = { [Name in ListName]: z.output<(typeof ROWS)[Name]> };
export type HostFigures = z.output<typeof HostFigures>;

/**
 * Rows of a list that were added or changed, and the ids of those that are gone.
 *
 * @param isKnown Whether this version has the kind of a row: others come from later versions.
 */
const change = <Row extends z.ZodType>(
  row: Row,
  max: number,
  isKnown: (given: unknown) => boolean = () => true,
) =>
  z.object({
    /** Whether they replace all that was sent before. */
    isWhole: z.boolean(),
    set: z.preprocess(
      (rows) => Array.isArray(rows) ? rows.filter(isKnown) : rows,
      z.array(row).max(max),
    ),
    removed: z.array(Line).max(max),
  });

const hasKnownKind = (row: unknown): boolean =>
  (STACK_KINDS as readonly unknown[]).includes((row as { kind?: unknown } | null)?.kind);

const isPart = (word: string): word is Part => (PARTS as readonly string[]).includes(word);

/** Limit of the parts that a host of a later version may name. */
const NAMED_PARTS_MAX = 100;

/** Frames by the name of their event. `current` has the parts that could just be read. */
export const FRAMES = {
  current: z.array(Word).max(NAMED_PARTS_MAX).transform((parts) => parts.filter(isPart)),
  // A later version may allow something else.
  host: HostFigures.extend({ allows: HostAllows.catch(null) }),
  containers: change(ContainerRow, ROWS_MAX.containers),
  stacks: change(StackRow, ROWS_MAX.stacks, hasKnownKind),
  alerts: change(AlertRow, ROWS_MAX.alerts),
  updates: change(UpdateRow, ROWS_MAX.updates),
} as const;

export interface Change<Name extends ListName> {
  isWhole: boolean;
  set: Rows[Name][];
  removed: string[];
}
