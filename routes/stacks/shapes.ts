/** Shapes that several endpoints of stacks share. @module */

import * as z from "zod";
import { RECREATE_POLICIES } from "../../services/compose/plan/options.ts";
import { limitedRecord } from "../../services/input/limited_record.ts";
import { PathText, Timestamp } from "../contract/shapes.ts";

/** The name of a Compose project, which is also that of a stack with sources. */
export const StackName = z.string().max(100).regex(/^[a-z0-9][a-z0-9_-]*$/, {
  error: "must have lowercase letters, digits, dashes and underscores only",
}).meta({ description: "Name of the stack", example: "shop" });

/** The `:name` of a path of a Compose project. */
export const ProjectParams = z.object({ name: StackName });

/** The `:name` of a path of any stack, also of one that was deployed elsewhere. */
export const StackParams = z.object({
  name: PathText.meta({ description: "Name of the stack", example: "shop" }),
});

/** Largest body with the sources of a stack, in bytes: their limits and the escapes of JSON. */
export const SOURCES_BODY_BYTES_MAX = 12 * 1024 * 1024;

const FILE_BYTES_MAX = 1024 * 1024;
const FILES_BYTES_MAX = 4 * 1024 * 1024;
const FILES_MAX = 200;
const VARIABLES_MAX = 2_000;

/** The length in UTF-16 units is a lower bound of that in bytes; the loader checks the latter. */
const Text = z.string().max(FILE_BYTES_MAX);

/** A relative path without `..`, `.` and empty parts. */
const FileName = z.string().min(1).max(255).regex(
  /^(?!\/)(?!.*(?:^|\/)(?:\.{1,2})?(?:\/|$))[^\\\p{Cc}]+$/u,
  { error: "must be a relative path without .." },
);

/** An absolute path as the loader and the labels of Compose, which separate paths by commas, need it. */
export const Directory = z.string().max(1024).regex(
  /^(?!.*\/(?:\.{1,2})?(?:\/|$))\/[^\\,\p{Cc}]+$/u,
  { error: "must be an absolute path without .., commas and a slash at the end" },
);

/** Names of the texts that have fields of their own, and by which a comparison shows them. */
const OTHER_TEXTS = [".env", "compose.yaml"];

const sizeOf = (texts: Record<string, string>) =>
  Object.values(texts).reduce((size, text) => size + text.length, 0);

/** The sources of a stack. */
export const StackSources = z.strictObject({
  compose: Text.min(1).meta({
    description: "The Compose text, up to 1 MiB",
    example: "services:\n  web:\n    image: nginx\n",
  }),
  env: z.union([Text, limitedRecord(z.string().max(255), Text, VARIABLES_MAX)]).optional().meta({
    description: "Variables of the Compose text: the text of `.env`, or an object of up to " +
      `${VARIABLES_MAX} variables`,
    example: "TAG=1.27\n",
  }),
  files: limitedRecord(FileName, Text, FILES_MAX)
    .refine((files) => !OTHER_TEXTS.some((name) => Object.hasOwn(files, name)), {
      error: "must have neither .env nor compose.yaml: use env and compose",
    })
    .refine((files) => sizeOf(files) <= FILES_BYTES_MAX, {
      error: "must have at most 4 MiB in all",
    })
    .optional().meta({
      description:
        "Texts of other files by relative path, up to 1 MiB each and 4 MiB in all: for " +
        "`env_file`, `extends`, `include`, configs and secrets",
      example: { "app.env": "LOG_LEVEL=info\n" },
    }),
  profiles: z.array(z.string().min(1).max(100)).max(100).optional().meta({
    description: "Active profiles, `*` for all; default: `COMPOSE_PROFILES` of `env`",
    example: ["debug"],
  }),
});

/** The sources of a stack as they are shown. */
export const ShownSources = z.object({
  compose: z.string(),
  env: z.union([z.string(), z.record(z.string(), z.string())]).meta({
    description:
      "As it was sent; the values are redacted unless the caller is an admin. Sent back " +
      "redacted, they are kept",
  }),
  files: z.record(z.string(), z.string()).meta({
    description:
      "By relative path; the texts are redacted unless the caller is an admin. Sent back " +
      "redacted, they are kept",
  }),
  profiles: z.array(z.string()),
  managed: z.enum(["stored", "disk"]).meta({
    description: "disk: the files of `directory` are the current sources",
  }),
  directory: z.string().nullable().meta({
    description: "Of a stack on disk",
    example: "/opt/stacks/shop",
  }),
  configFiles: z.array(z.string()).meta({
    description: "Compose files of a stack on disk. The first has the text `compose`; the others " +
      "override it and are among `files`",
    example: ["/opt/stacks/shop/compose.yaml"],
  }),
});

/** A change that a plan shows and a deploy makes. */
export const Change = z.object({
  kind: z.enum(["service", "network", "volume"]),
  name: z.string().meta({
    description: "The key in the Compose file, or the service of containers that are not in it",
    example: "web",
  }),
  action: z.enum(["create", "recreate", "start", "remove", "none"]),
  reasons: z.array(z.object({
    path: z.string().meta({ example: "environment.LOG_LEVEL" }),
    from: z.string().nullable().meta({
      description:
        "Null if it was not set; `(changed)` instead of the value of a variable or of a " +
        "log option. Only admins see values of the stack's variables elsewhere in a plan",
    }),
    to: z.string().nullable(),
    text: z.string().meta({ example: "environment: LOG_LEVEL added" }),
  })),
});

/** Options that a plan and a deploy have in common. */
export const PlanOptions = z.object({
  recreate: z.enum(RECREATE_POLICIES).default("changed").meta({
    description: "Which containers are recreated",
  }),
  removeOrphans: z.boolean().default(false).meta({
    description: "Whether containers of services that are not in the Compose file are removed",
  }),
  services: z.array(z.string().min(1).max(255)).min(1).max(1000).optional().meta({
    description: "Only these, and those that they depend on",
    example: ["web"],
  }),
});

/** A commit of a Git repository. */
export const Commit = z.object({
  id: z.string().meta({ example: "9fceb02d0ae598e95dc970b74767f19372d61af8" }),
  author: z.string().meta({ example: "Ada <ada@example.org>" }),
  message: z.string().meta({ description: "The first line" }),
  committedAt: Timestamp,
  signer: z.string().nullable().meta({
    description: "Allowed signer whose signature was verified; null where signatures are off",
  }),
}).meta({ id: "GitCommit" });
