/** Measured values of a container over time. @module */

import type { ContainerDetail } from "../../api/types.ts";
import { useRead } from "../../components/reading.ts";
import { type RANGES, useHistory } from "../../parts/history.ts";
import { host } from "../../state/live.ts";

/** Reads a range, and adds what arrives while a component is shown. */
export function useContainerHistory(container: ContainerDetail, range: (typeof RANGES)[number]) {
  const reading = useRead("GET /api/containers/{id}/metrics/history", {
    path: { id: container.id },
    query: { range: range.value },
  });
  const latest = latestOf(container);
  const points = useHistory(reading.data.value?.history, latest, range.seconds);
  const times = points.map(({ timestamp }) => Date.parse(timestamp) / 1000);
  return { ...reading, latest, points, times };
}

/** The last sample; `undefined` without one. */
function latestOf({ cpuPercent, memory, ...container }: ContainerDetail) {
  const timestamp = host.value?.timestamp;
  if (timestamp === undefined || cpuPercent === null || memory === null) return undefined;
  const { networkRxPerSecond, networkTxPerSecond } = container;
  const { blockReadPerSecond, blockWritePerSecond } = container;
  return {
    ...{ timestamp, cpuPercent, memory, networkRxPerSecond, networkTxPerSecond },
    ...{ blockReadPerSecond, blockWritePerSecond },
  };
}
