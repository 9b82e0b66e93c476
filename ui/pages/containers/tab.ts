/** Properties of each tab of a container. @module */

import type { ContainerDetail } from "../../api/types.ts";

export interface TabProps {
  container: ContainerDetail;
}
