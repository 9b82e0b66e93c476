import { equal } from "node:assert/strict";
import { dashboardTest } from "../helpers/dashboard.ts";
import { idOf } from "../helpers/fake_containers.ts";
import { long } from "../helpers/long.ts";
import { openDashboard } from "../helpers/open_dashboard.ts";
import { eventually } from "../helpers/until.ts";

long(dashboardTest)("the dashboard marks a container that was not read in full", async () => {
  await using dashboard = await openDashboard({
    containers: [
      { name: "web" },
      { name: "large", labels: { text: "x".repeat(2 * 1024 * 1024) } },
    ],
    answers: { "GET /events": () => new Response(new ReadableStream()) },
    path: "/containers",
  });
  const { tab } = dashboard;
  await tab.find("status", "2 containers");

  await eventually(async () => {
    const marked = await tab.page.$$eval(
      "main tbody tr",
      (rows) =>
        rows.filter((row) => row.textContent.includes("Incomplete"))
          .map((row) => row.querySelector("a")!.textContent),
    );
    equal(marked.join(), "large");
  });
  await tab.open(`/containers/${idOf("large").slice(0, 12)}`);
  await eventually(async () =>
    equal(
      await tab.page.$eval("main .hint.problem", (hint) => hint.textContent),
      "Its labels or other texts are too large to be read in full",
    )
  );
});
