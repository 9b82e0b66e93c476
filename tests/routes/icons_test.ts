import { deepEqual, equal } from "node:assert/strict";
import { iconOf } from "../../services/containers/icons.ts";
import { setContainers } from "../helpers/fake_containers.ts";
import { testApp } from "../helpers/test_app.ts";

const PNG =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg==";
const OTHER = PNG.replace("AAAAFCAYAAA", "AAAAGCAYAAA");

Deno.test("GET /api/icons has the different icons of the containers that the caller may see", async () => {
  using app = testApp();
  setContainers(
    app,
    { name: "web", labels: { "longshore.icon": PNG } },
    { name: "api", labels: { "homepage.icon": PNG } },
    { name: "db", labels: { "longshore.icon": OTHER } },
    { name: "old", labels: { "homepage.icon": "https://example.com/icon.png" } },
  );
  const { body } = await app.call("GET", "/api/icons", undefined, { role: "viewer" });
  deepEqual(body.icons.map(({ url }: { url: string }) => url), [PNG, OTHER]);

  const { body: { containers } } = await app.call("GET", "/api/containers");
  const iconIn = (name: string) =>
    containers.find((each: { name: string }) => each.name === name).icon;
  equal(iconIn("web"), body.icons[0].id);
  equal(iconIn("api"), iconIn("web"));
  equal(iconIn("db"), iconOf({ "longshore.icon": OTHER })!.id);
  equal(iconIn("old"), null);

  const limits = { name: "CI", role: "viewer", containers: ["db"] };
  const { body: { token } } = await app.call("POST", "/api/tokens", limits);
  const limited = await app.call("GET", "/api/icons", undefined, { token });
  deepEqual(limited.body.icons.map(({ url }: { url: string }) => url), [OTHER]);
});

Deno.test("an uploaded icon is that of the containers whose labels name it", async () => {
  using app = testApp();
  setContainers(
    app,
    { name: "grafana", labels: { "homepage.icon": "grafana.png" } },
    { name: "db", labels: { "longshore.icon": "postgres" } },
  );
  const upload = (name: string, url = PNG) =>
    app.call("POST", "/api/icons/uploaded", { name, url });
  const shown = async () => (await app.call("GET", "/api/icons")).body.icons;
  deepEqual(await shown(), []);

  const { status, body } = await upload("Grafana.png");
  equal(status, 201);
  equal(body.name, "grafana");
  await upload("unused");
  const { body: { containers } } = await app.call("GET", "/api/containers");
  deepEqual(await shown(), [{ id: containers[1].icon, url: PNG }]);
  await upload("grafana", OTHER);
  deepEqual(await shown(), [{ id: "name:grafana", url: OTHER }], "replaced");

  const { body: { icons } } = await app.call("GET", "/api/icons/uploaded");
  deepEqual(icons.map(({ name }: { name: string }) => name), ["grafana", "unused"]);
  equal((await app.call("DELETE", "/api/icons/uploaded/grafana")).status, 200);
  equal((await app.call("DELETE", "/api/icons/uploaded/grafana")).status, 404);
  deepEqual(await shown(), []);
});

Deno.test("an upload must be an image with a plain name, by an admin", async () => {
  using app = testApp();
  const upload = (body: object, role: "admin" | "operator" = "admin") =>
    app.call("POST", "/api/icons/uploaded", body, { role });
  const svg = `data:image/svg+xml;base64,${btoa("<svg/>")}`;
  equal((await upload({ name: "a", url: svg })).status, 400);
  equal((await upload({ name: "a", url: "https://example.com/a.png" })).status, 400);
  equal((await upload({ name: "../a", url: PNG })).status, 400);
  equal((await upload({ name: "a", url: PNG }, "operator")).status, 403);
  for (let number = 0; number < 200; number++) await upload({ name: `icon${number}`, url: PNG });
  equal((await upload({ name: "one-more", url: PNG })).status, 409);
  equal((await upload({ name: "icon7", url: OTHER })).status, 201, "replaced");
});
