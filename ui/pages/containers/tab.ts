/** What each tab of a container gets. @module */

import type { ContainerDetail } from "../../api/types.ts";

export interface TabProps {
  container: ContainerDetail;
}
