/** Properties of each tab of a status page. @module */

import type { StatusPageDetail } from "../../../api/types.ts";

export interface TabProps {
  page: StatusPageDetail;
  /** The page's own status may have changed. */
  onChange: () => void;
}
