/** Files of a container. @module */

import { Files as FileBrowser } from "../../parts/files/files.tsx";
import type { TabProps } from "./tab.ts";

export function Files({ container: { id } }: TabProps) {
  return <FileBrowser key={id} place={{ kind: "containers", ref: id }} root="Container" />;
}
