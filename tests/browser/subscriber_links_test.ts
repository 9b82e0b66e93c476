/** The links of mails to subscribers in a real browser. @module */

import { deepEqual, equal } from "node:assert/strict";
import { unsubscribeToken } from "../../services/pro/status_pages/subscriber_address.ts";
import { browserTest, startBrowser, type View } from "../helpers/browser.ts";
import { long } from "../helpers/long.ts";
import { serveApp } from "../helpers/served_app.ts";
import { newPage, newSubscriber, PAGES, proApp } from "../helpers/status_pages.ts";
import { until } from "../helpers/until.ts";

const VIEWS: View[] = [
  { width: 320, height: 600, scheme: "light" },
  { width: 1100, height: 800, scheme: "dark" },
];

long(browserTest)(
  "the page behind a notice's link unsubscribes by its button, which its policy allows",
  async () => {
    using app = proApp();
    const { id: pageId } = await newPage(app, { name: "W".repeat(90) });
    await using site = serveApp(app);
    await using browser = await startBrowser();
    for (const [i, view] of VIEWS.entries()) {
      const { id } = await newSubscriber(app, pageId, { webhook_url: `http://127.0.0.1:1/${i}` });
      const url = `${site.url}${PAGES}/unsubscribe/${await unsubscribeToken(app.deps.secrets, id)}`;
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
);
