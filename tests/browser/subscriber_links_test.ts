/**
 * The links of mails to subscribers in a real browser. Ignored if `chromium` is not installed,
 * unless `LONGSHORE_REQUIRE_ENGINE=1`.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { unsubscribeToken } from "../../services/pro/status_pages/subscriber_address.ts";
import { hasBrowser, startBrowser, type View } from "../helpers/browser.ts";
import { newPage, newSubscriber, PAGES, proApp } from "../helpers/status_pages.ts";
import { until } from "../helpers/until.ts";

const isRequired = Deno.env.get("LONGSHORE_REQUIRE_ENGINE") === "1";
const ignore = !hasBrowser() && !isRequired;

const VIEWS: View[] = [
  { width: 320, height: 600, scheme: "light" },
  { width: 1100, height: 800, scheme: "dark" },
];

Deno.test({
  name: "the page behind a notice's link unsubscribes by its button, which its policy allows",
  ignore,
  async fn() {
    using app = proApp();
    const { id: pageId } = await newPage(app, { name: "W".repeat(90) });
    await using server = Deno.serve(
      { hostname: "127.0.0.1", port: 0, onListen() {} },
      (request) => app.app(request, "127.0.0.1"),
    );
    const site = `http://127.0.0.1:${server.addr.port}`;
    await using browser = await startBrowser();
    for (const [i, view] of VIEWS.entries()) {
      const { id } = await newSubscriber(app, pageId, { webhook_url: `http://127.0.0.1:1/${i}` });
      const url = `${site}${PAGES}/unsubscribe/${await unsubscribeToken(app.deps.secrets, id)}`;
      await browser.visit(url, view, async ({ complaints, requests, evaluate }) => {
        const title = () => evaluate("document.querySelector('h2').innerText");
        equal(await title(), "Unsubscribe?");
        equal(await evaluate("document.documentElement.scrollWidth"), view.width);
        // As large as a finger needs it (WCAG 2.2, 2.5.5).
        equal(await evaluate("document.querySelector('button').offsetHeight >= 44"), true);
        await evaluate("document.querySelector('button').click()");
        await until(
          "the subscription has ended",
          async () => await title() === "You are unsubscribed",
        );
        deepEqual([complaints, requests], [[], [url, url]]);
      });
    }
    equal((await app.call("GET", `${PAGES}/${pageId}/subscribers`)).body.total, 0);
  },
});
