import { deepEqual, rejects } from "node:assert/strict";
import { nameAgain, nameImage } from "../../../../services/updates/run/image_name.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { testApp } from "../../../helpers/test_app.ts";

const GONE = `sha256:${"1".repeat(64)}`;

Deno.test("a reference is not left to another image when the one that it has to name is gone", async () => {
  await using fake = fakeEngine({
    "GET /images/*/json": () => Response.json({ Id: `sha256:${"2".repeat(64)}` }),
    "POST /images/*/tag": () => Response.json({ message: "No such image" }, { status: 404 }),
  });
  using app = testApp({ engine: fake.engine });
  await rejects(nameImage(app.deps, "nginx:1", GONE), {
    code: "conflict",
    message: "The image that nginx:1 has to name was removed",
  });
  await nameAgain(app.deps, "nginx:1", GONE);
  deepEqual(fake.requests.filter((each) => each.startsWith("POST")).length, 2);
});
