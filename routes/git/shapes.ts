/** Shapes of Git repositories and of the stacks that follow them. @module */

import * as z from "zod";
import { limitedRecord } from "../../services/input/limited_record.ts";

const VARIABLES_MAX = 500;
const VALUE_MAX = 32 * 1024;

/** A relative path, in a mapping with at most one `*` in all. */
export const RepositoryPath = z.string().max(500).regex(
  /^(?!\/)(?!.*(?:^|\/)(?:\.{1,2})?(?:\/|$))[^\\\p{Cc}]+$/u,
  { error: "must be a relative path without .." },
);

/** Variables by name. */
export const Variables = limitedRecord(
  z.string().regex(/^[A-Za-z_]\w{0,254}$/),
  z.string().max(VALUE_MAX),
  VARIABLES_MAX,
);
