/** Shapes of volumes that several endpoints share. @module */

import * as z from "zod";

/** Only the engine's characters for names are allowed. */
export const VolumeParams = z.object({
  name: z.string().regex(/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,254}$/, {
    error: "must be the name of a volume",
  }),
});
