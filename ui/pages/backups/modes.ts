/** Modes of backups in words. @module */

import type { BackupRequest } from "../../api/types.ts";

export type Mode = NonNullable<BackupRequest["mode"]> | "";

export const MODES: readonly { value: Mode; name: string }[] = [
  { value: "", name: "Automatic" },
  { value: "stop", name: "Stop" },
  { value: "pause", name: "Pause" },
  { value: "hooks", name: "Hooks" },
  { value: "live", name: "Live" },
];
