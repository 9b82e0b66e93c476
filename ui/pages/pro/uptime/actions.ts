/** Actions on a monitor. @module */

import { api } from "../../../api/client.ts";
import type { Monitor } from "../../../api/types.ts";
import type { MenuItem } from "../../../components/menu.tsx";
import { milliseconds, plain } from "../../../base/text.ts";
import { hasRole } from "../../../state/session.ts";
import { sentenceOf, showAlert, showStatus, withResult } from "../../../state/toasts.ts";
import type { Deletion } from "../../../components/deletion.ts";

/** Items of the menu of a monitor. */
export const checkItems = (monitor: Monitor, onChange: () => void): MenuItem[] => [
  ...hasRole("operator", "uptime:write")
    ? [{ name: "Check now", onSelect: () => void checkNow(monitor).then(onChange) }]
    : [],
  ...hasRole("admin", "uptime:write")
    ? [{
      name: monitor.status === "paused" ? "Resume" : "Pause",
      onSelect: () => void togglePause(monitor).then(onChange),
    }]
    : [],
];

export async function checkNow({ id, name }: Monitor): Promise<void> {
  try {
    const check = await api("POST /api/ext/service-pro/uptime/monitors/{id}/check", {
      path: { id },
    });
    const time = milliseconds(check.response_time_ms);
    if (check.status === "up") showStatus(`Checked ${plain(name)}: up in ${time}`);
    else showAlert(`${plain(name)} is down: ${plain(check.error ?? "no reason is known")}`);
  } catch (error) {
    showAlert(sentenceOf(error));
  }
}

export async function togglePause({ id, name, status }: Monitor): Promise<void> {
  const path = { id };
  if (status !== "paused") {
    await withResult(
      `Paused ${plain(name)}`,
      () => api("POST /api/ext/service-pro/uptime/monitors/{id}/pause", { path }),
    );
    return;
  }
  await withResult(`Resumed ${plain(name)}`, async () => {
    await api("POST /api/ext/service-pro/uptime/monitors/{id}/resume", { path });
    await api("POST /api/ext/service-pro/uptime/monitors/{id}/check", { path });
  });
}

export const MONITOR_DELETION: Deletion<Monitor> = {
  consequence: ({ name }) =>
    `The monitor ${
      plain(name)
    } and its checks are deleted. Its outages are kept, and status page ` +
    `components that follow it lose the link.`,
  work: ({ id }) => api("DELETE /api/ext/service-pro/uptime/monitors/{id}", { path: { id } }),
};
