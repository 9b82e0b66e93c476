/**
 * Messages to people about a container that crashes for ten minutes, with everything of the Pro
 * Edition watching it.
 *
 * @module
 */

import { equal, match, ok } from "node:assert/strict";
import {
  endCrashLoops,
  reportExit,
  reportStart,
} from "../../../services/containers/crash_loops.ts";
import { collectNotifications } from "../../../services/messages/queue.ts";
import { emit } from "../../../services/events/emit.ts";
import { recordCheck } from "../../../services/pro/uptime/checks.ts";
import { setContainers } from "../../helpers/fake_containers.ts";
import { testApp } from "../../helpers/test_app.ts";

const PRO = "/api/ext/service-pro";

const CRASHING_S = 10 * 60;
const QUIET_S = 15 * 60;

const CHECK_S = 30;
const REMEDIATION_COOLDOWN_S = 60;

/** In each channel. */
const MESSAGES_MAX = 4;

for (
  const { upS, downS } of [{ upS: 2, downS: 1 }, { upS: 15, downS: 10 }, { upS: 40, downS: 20 }]
) {
  Deno.test(`a container that crashes every ${upS + downS} s for 10 minutes is a few messages`, async () => {
    using app = testApp({ edition: "pro", now: "2026-01-01T12:00:00Z" });
    const { deps, clock } = app;
    const web = { container: "web", id: "web" };
    const show = (state: "running" | "exited") => {
      setContainers({ deps }, { name: "web", state });
    };
    show("running");
    const create = async (path: string, body: object) => {
      const created = await app.call("POST", path, body);
      equal(created.status, 201, JSON.stringify(created.body));
      return created.body.id as string;
    };
    await create("/api/notifications/channels", {
      name: "On-call",
      kind: "gotify",
      config: { url: "https://gotify.example.com", token: "t" },
    });
    const monitor = await create(`${PRO}/uptime/monitors`, {
      name: "Shop",
      type: "http",
      url: "http://web/",
      interval_seconds: CHECK_S,
      retries: 0,
      auto_incident: true,
    });
    const page = await create(`${PRO}/status-pages`, { name: "Acme", is_public: true });
    await create(`${PRO}/status-pages/${page}/components`, { name: "Shop", monitor_id: monitor });

    let isUp = true;
    const second = (at: number, isCrashing: boolean) => {
      const phase = at % (upS + downS);
      if (isCrashing && phase === upS) {
        isUp = false;
        show("exited");
        reportExit(deps, { ...web, reason: "exited", exitCode: 1 });
      }
      if (!isUp && (phase === 0 || !isCrashing)) {
        isUp = true;
        show("running");
        reportStart(deps, web);
      }
      if (isCrashing && at % REMEDIATION_COOLDOWN_S === upS) {
        emit(deps, "remediation.executed", {
          rule: "Restart it",
          ruleId: "r",
          action: "restart",
          target: "web",
          status: "success",
          error: null,
        });
      }
      if (at % CHECK_S === 0) {
        const error = isUp ? null : "Connection refused";
        const result = { ok: isUp, statusCode: isUp ? 200 : null, responseTimeMs: 5, error };
        recordCheck(deps, monitor, deps.now(), result);
      }
      endCrashLoops(deps);
      collectNotifications(deps);
      clock.advance({ seconds: 1 });
    };
    for (let at = 1; at < CRASHING_S + QUIET_S; at++) second(at, at < CRASHING_S);

    const texts = deps.db.all<{ payload: string }>(
      "SELECT payload FROM outbox_messages WHERE channel = 'notification' ORDER BY sequence",
    ).map(({ payload }) => payload);
    ok(texts.length <= MESSAGES_MAX, `${texts.length} messages\n${texts.join("\n")}`);
    match(texts.at(-1) ?? "", /Crash loop ended: web/);
  });
}
