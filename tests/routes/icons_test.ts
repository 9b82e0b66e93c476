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
