/**
 * A table of which only the rows near the window are in the document: what they show, their order and
 * the keyboard.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { dashboardTest } from "../helpers/dashboard.ts";
import { long } from "../helpers/long.ts";
import { openDashboard } from "../helpers/open_dashboard.ts";
import { eventually } from "../helpers/until.ts";

const names = Array.from({ length: 300 }, (_, at) => `web-${String(at).padStart(3, "0")}`);

long(dashboardTest)("a long table shows the right rows in their order", async (t) => {
  await using dashboard = await openDashboard({
    containers: names.map((name) => ({
      name,
      ...(name === "web-004" && { image: "registry.example.com/team/application:1" }),
      labels: name === "web-123" ? { "com.docker.compose.project": "shop" } : {},
    })),
    // Without it, each read of the program would ask for every container.
    answers: { "GET /events": () => new Response(new ReadableStream()) },
    path: "/containers",
  });
  const { tab } = dashboard;
  await tab.find("status", "300 containers");

  /** Names by the numbers of the rows, in the order of the document. */
  const rows = () =>
    tab.page.$$eval(
      "main tbody tr",
      (rows) => rows.map((row) => [row.ariaRowIndex, row.querySelector("a")!.textContent]),
    );
  const inOrder = (first: number, count: number) =>
    names.slice(first, first + count).map((name, at) => [String(first + at + 2), name]);
  /** Scrolls in steps of a frame. @returns Names of rows that were at the wrong place or empty. */
  const scroll = (steps: number, px: number) =>
    tab.page.evaluate(async ({ steps, px, names }) => {
      const wrong: string[] = [];
      for (let step = 0; step < steps; step++) {
        scrollBy(0, px);
        for (let frame = 0; frame < 2; frame++) {
          await new Promise((resolve) => requestAnimationFrame(resolve));
        }
        const { top } = document.querySelector("main tbody")!.getBoundingClientRect();
        const first = Math.max(0, Math.floor(-top / 44));
        for (let at = first; top + 44 * at < innerHeight; at++) {
          const row = document.querySelector(`main tr[aria-rowindex="${at + 2}"]`);
          const found = row?.querySelector("a")?.textContent;
          const offset = row ? row.getBoundingClientRect().top - top : undefined;
          if (found !== names[at] || offset !== 44 * at) {
            wrong.push(`${names[at]} is missing: ${found} at ${offset}`);
          }
        }
      }
      return wrong;
    }, { steps, px, names });

  await t.step("while it is scrolled, and afterwards", async () => {
    deepEqual(await scroll(20, 400), []);
    deepEqual(await scroll(7, -150), []);
    await eventually(async () => {
      const shown = await rows();
      deepEqual(shown, inOrder(Number(shown[0]![0]) - 2, shown.length));
    });
  });

  await t.step("what was selected stays with its row", async () => {
    await tab.page.evaluate(() => scrollTo(0, 0));
    await tab.click("checkbox", "Select web-001");
    await tab.page.evaluate(() => (document.activeElement as HTMLElement).blur());
    deepEqual(await scroll(10, 300), []);
    equal(await tab.page.$$eval("main tbody :checked", (all) => all.length), 0);
    deepEqual(await scroll(10, -300), []);
    const checked = await tab.page.$$eval(
      "main tbody :checked",
      (all) => all.map((a) => a.ariaLabel),
    );
    deepEqual(checked, ["Select web-001"]);
  });

  await t.step("a filter leaves the right rows, and keeps the elements of those", async () => {
    await tab.page.evaluate(() => scrollTo(0, 0));
    await eventually(async () => equal((await rows())[0]![1], names[0]));
    const row = await tab.page.waitForSelector('main tbody tr:has([aria-label="Select web-001"])');
    for (const text of ["web-1", "web-2", "web-0", "web-001"]) {
      await tab.type("searchbox", "Filter containers", text);
      const expected = names.filter((name) => name.includes(text));
      await tab.find("status", `${expected.length} of 300 containers`);
      await eventually(async () => {
        const shown = await rows();
        deepEqual(
          shown,
          expected.slice(0, shown.length).map((name, at) => [String(at + 2), name]),
        );
      });
      // "web-1" has removed the row, "web-0" has created another one.
      if (text === "web-0") {
        await tab.page.$eval(
          'main tbody tr:has([aria-label="Select web-001"])',
          (row) => row.id = "kept",
        );
      }
    }
    equal(await row!.evaluate((each) => each.isConnected), false);
    equal(await tab.page.$eval("main tbody tr", (each) => each.id), "kept");
    await tab.type("searchbox", "Filter containers", "");
    await tab.find("status", "300 containers");
  });

  await t.step(
    "many keys change the address once, at the latest when the page is left",
    async () => {
      const changes = await tab.page.evaluate(() => {
        let changes = 0;
        const { replaceState } = history;
        history.replaceState = (...state) => {
          changes++;
          replaceState.apply(history, state);
        };
        const field = document.querySelector<HTMLInputElement>("main input[type=search]")!;
        for (let key = 0; key < 100; key++) {
          field.value = `web-0${key}`;
          field.dispatchEvent(new Event("input", { bubbles: true }));
        }
        document.querySelector<HTMLElement>('nav a[href="/"]')!.click();
        history.replaceState = replaceState;
        return changes;
      });
      equal(changes, 1);
      await tab.find("heading", "Overview");
      await tab.page.goBack();
      await tab.find("status", "1 of 300 containers");
      equal(new URL(tab.page.url()).search, "?q=web-099");
      await tab.type("searchbox", "Filter containers", "");
      await tab.find("status", "300 containers");
    },
  );

  await t.step("the keyboard leads through it row by row", async () => {
    await tab.page.focus('main tbody [aria-label="Select web-001"]');
    const focused: (string | null)[] = [];
    for (let press = 0; press < 3 * 60; press++) {
      await tab.page.keyboard.press("Tab");
      focused.push(
        await tab.page.evaluate(async () => {
          // The rows follow with the next frame, which a loaded machine delays.
          await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
          const { ariaLabel, textContent } = document.activeElement!;
          return ariaLabel ?? textContent;
        }),
      );
    }
    deepEqual(
      focused,
      names.slice(1, 62).flatMap((name) => [`Select ${name}`, name, `Actions for ${name}`])
        .slice(1, 181),
    );
  });
  await t.step("tooltips of menus and of what is cut leave with the pointer", async () => {
    await tab.page.evaluate(() => {
      (document.activeElement as HTMLElement).blur();
      scrollTo(0, 0);
    });
    await eventually(async () => equal((await rows())[0]![1], names[0]));
    const titles = () =>
      tab.page.$$eval(
        "main tbody :is(td, a, button)",
        (all) => all.map((element) => (element as HTMLElement).title).filter(Boolean),
      );
    await tab.page.hover('main tbody [aria-label="Actions for web-002"]');
    await eventually(async () => deepEqual(await titles(), ["Actions for web-002"]));
    await tab.page.hover('main tr[aria-rowindex="6"] td.cut:has(bdi)');
    await eventually(async () =>
      deepEqual(await titles(), ["registry.example.com/team/application:1"])
    );
    await tab.page.hover('main tr[aria-rowindex="5"] td.cut:has(bdi)');
    await eventually(async () => deepEqual(await titles(), []));
    await tab.page.mouse.move(0, 0);
    await eventually(async () => deepEqual(await titles(), []));
  });

  await t.step(
    "a column that was hidden has its texts again, and groups have headings",
    async () => {
      await tab.page.evaluate(() => {
        (document.activeElement as HTMLElement).blur();
        scrollTo(0, 0);
      });
      await eventually(async () => equal((await rows())[0]![1], names[0]));
      const cells = (row: number) =>
        tab.page.$$eval(
          `main tr[aria-rowindex="${row}"] > *`,
          (cells) => cells.map(({ textContent }) => textContent).filter((text) => text !== ""),
        );
      const [first, ...others] = await cells(2);
      equal(first, "web-000");
      equal(others[4], "app:1");
      const toggleImage = async () => {
        await tab.click("button", "Columns");
        await tab.click("menuitemcheckbox", "Image");
        await tab.page.keyboard.press("Escape");
      };
      await toggleImage();
      await eventually(async () => deepEqual(await cells(2), [first, ...others.toSpliced(4, 1)]));
      await toggleImage();
      await eventually(async () => deepEqual(await cells(2), [first, ...others]));

      await tab.click("checkbox", "Group by stack");
      await eventually(async () => deepEqual(await cells(2), ["shop (1)"]));
      await eventually(async () => equal((await cells(3))[0], "web-123"));
      await eventually(async () => equal((await cells(4))[0], "web-000"));
      await tab.click("button", "shop (1)");
      await eventually(async () => equal((await cells(3))[0], "web-000"));
      await tab.click("checkbox", "Group by stack");
      await eventually(async () => deepEqual(await cells(2), [first, ...others]));
    },
  );

  await t.step("all rows are printed", async () => {
    await tab.page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await eventually(async () => deepEqual(await rows(), inOrder(0, names.length)));
    await tab.page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await eventually(async () => equal((await rows()).length < 60, true));
  });

  await t.step("a table that is not long has all of its rows", async () => {
    for (let at = 10; at < 30; at++) {
      const token = { name: `token-${at}`, role: "viewer" };
      equal((await dashboard.service.call("POST", "/api/tokens", token)).status, 201);
    }
    await tab.go("/tokens");
    await eventually(async () => {
      const found = await tab.names("row");
      equal(found.filter((name) => name.startsWith("token-")).length, 20, found.join("\n"));
    });
  });
  deepEqual(tab.complaints, []);
});
