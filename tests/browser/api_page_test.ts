/**
 * The API page in a real browser. Leaves pictures in `longshore-pictures` in the directory for
 * temporary files.
 *
 * @module
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { tmpdir } from "node:os";
import { browserTest, startBrowser, type View, type Visit } from "../helpers/browser.ts";
import { LOWEST_CONTRAST } from "../helpers/page_checks.ts";
import { serveApp } from "../helpers/served_app.ts";
import { TEST_API_KEY, type TestApp, testApp } from "../helpers/test_app.ts";
import { until } from "../helpers/until.ts";

const PICTURES = `${tmpdir()}/longshore-pictures`;

const DESKTOP: View = { width: 1280, height: 900, scheme: "light" };

const VIEWS: Record<string, View> = {
  light: DESKTOP,
  dark: { ...DESKTOP, scheme: "dark" },
  phone: { width: 390, height: 844, scheme: "light" },
};

function serve(app: TestApp) {
  const requests: string[] = [];
  const { url, ...served } = serveApp({
    app(request, peer) {
      requests.push(`${request.method} ${new URL(request.url).pathname}`);
      return app.app(request, peer);
    },
  });
  return { ...served, url: `${url}/docs`, requests };
}

const shown = (visit: Visit) =>
  until(
    "the operations are shown",
    () => visit.evaluate("document.querySelectorAll('.operation').length > 100"),
  );

const open = (visit: Visit, id: string) =>
  until(`${id} is open`, () =>
    visit.evaluate(
      `(document.getElementById("${id}").open = true) && ` +
        `document.querySelector("#${id} > .body") !== null`,
    ));

const textOf = (visit: Visit, selector: string) =>
  visit.evaluate(`document.querySelector(${JSON.stringify(selector)}).textContent`);

/** Types into the filter. @returns The ids of the matching operations. */
function filtered(visit: Visit, words: string): Promise<string[]> {
  return visit.evaluate(
    `(() => {
      const filter = document.getElementById("filter");
      filter.value = ${JSON.stringify(words)};
      filter.dispatchEvent(new Event("input"));
      return [...document.querySelectorAll(".operation")].filter((row) =>
        !row.hidden && !row.closest("section").hidden
      ).map(({ id }) => id);
    })()`,
  );
}

for (const [name, view] of Object.entries(VIEWS)) {
  browserTest(`the API page can be read (${name})`, async () => {
    using app = testApp();
    await using service = serve(app);
    await using browser = await startBrowser();
    await Deno.mkdir(PICTURES, { recursive: true });

    await browser.visit(service.url, view, async (visit) => {
      await shown(visit);
      await Deno.writeFile(
        `${PICTURES}/api-page-${name}.png`,
        await visit.picture({ whole: false }),
      );
      for (const id of ["stopContainer", "listContainers", "createWebhook"]) {
        await open(visit, id);
      }
      await visit.evaluate("document.getElementById('stopContainer').scrollIntoView()");
      await Deno.writeFile(
        `${PICTURES}/api-page-${name}-open.png`,
        await visit.picture({ whole: false }),
      );

      // The remaining message is a hint for password managers.
      deepEqual(visit.complaints.filter((each) => !each.startsWith("[DOM] Multiple forms")), []);
      // The list of groups scrolls by itself on a phone.
      equal(await visit.evaluate("document.documentElement.scrollWidth"), view.width);
      const lowest = await visit.evaluate(LOWEST_CONTRAST);
      ok(lowest.ratio >= 4.5, JSON.stringify(lowest));
    });
  });
}

browserTest(
  "the API page lists containers first and the editions apart, and finds words everywhere",
  async () => {
    using app = testApp();
    await using service = serve(app);
    await using browser = await startBrowser();

    await browser.visit(service.url, DESKTOP, async (visit) => {
      await shown(visit);
      const names: string[] = await visit.evaluate(
        "[...document.querySelectorAll('nav > *')].map((each) => each.firstChild.textContent)",
      );
      equal(names[0], "Containers");
      ok(names.indexOf("Pro") < names.indexOf("Incidents"));
      ok(names.indexOf("Enterprise") < names.indexOf("Branding"));
      equal(names.filter((each) => each === "Pro" || each === "Enterprise").length, 2);

      // A parameter, a description of one, a field of a body, and the description of an operation.
      ok((await filtered(visit, "lastEventId")).includes("streamEvents"));
      ok((await filtered(visit, "before it is killed")).includes("stopContainer"));
      deepEqual(await filtered(visit, "refreshToken"), ["refreshTokens"]);
      ok((await filtered(visit, "standard webhooks")).includes("createWebhook"));
      deepEqual(await filtered(visit, "no such words"), []);
      equal(await visit.evaluate("document.querySelector('.none').hidden"), false);
    });
  },
);

browserTest("the API page shows what parameters mean, and curl lines that stream", async () => {
  using app = testApp();
  await using service = serve(app);
  await using browser = await startBrowser();

  await browser.visit(service.url, DESKTOP, async (visit) => {
    await shown(visit);
    for (const id of ["stopContainer", "streamEvents"]) await open(visit, id);

    match(await textOf(visit, "#stopContainer .fields"), /Seconds before it is killed/);
    match(await textOf(visit, "#stopContainer .body"), /503 The container engine cannot/);
    match(await textOf(visit, "#streamEvents pre.wrap"), /^curl -N -H /);
    ok(!(await textOf(visit, "#stopContainer pre.wrap")).includes(" -N "));
  });
});

browserTest("the API page asks before it sends what interrupts or deletes", async () => {
  using app = testApp();
  await using service = serve(app);
  await using browser = await startBrowser();

  await browser.visit(service.url, DESKTOP, async (visit) => {
    await shown(visit);
    const { body } = await app.call("POST", "/auth/token", { apiKey: TEST_API_KEY });
    await visit.evaluate(`(() => {
      globalThis.questions = [];
      globalThis.confirm = (question) => { questions.push(question); return false; };
      document.getElementById("account").click();
      const form = document.getElementById("sign-in-form");
      form.elements.way.value = "token";
      form.elements.token.value = ${JSON.stringify(body.accessToken)};
      form.requestSubmit();
    })()`);
    await until(
      "signed in",
      async () => (await textOf(visit, "#account")).startsWith("Sign out"),
    );
    for (const id of ["stopContainer", "deleteImage", "pruneSystem", "rebuildContainer"]) {
      await open(visit, id);
      await visit.evaluate(`(() => {
        const [field] = document.querySelectorAll("#${id} .fields input");
        if (field) field.value = "web";
        document.querySelector("#${id} button.primary").click();
      })()`);
    }

    const questions: string[] = await visit.evaluate("questions");
    equal(questions[0], "Stop a container?\n\nPOST /api/containers/web/stop");
    equal(questions.length, 4);
    deepEqual(service.requests.filter((each) => /stop|prune|rebuild|DELETE/.test(each)), []);
  });
});
