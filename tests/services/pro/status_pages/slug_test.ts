import { equal, match } from "node:assert/strict";
import { createSlug, findFreeSlug } from "../../../../services/pro/status_pages/slug.ts";

for (
  const [name, slug] of [
    ["Acme", "acme"],
    ["  Acme  Inc. / EU-West ", "acme-inc-eu-west"],
    ["Ärger & Straße", "arger-strasse"],
    ["Ada's café", "adas-cafe"],
    ["Łódź Ærø Þór", "lodz-aero-thor"],
    ["İstanbul ISI ısı", "istanbul-isi-isi"],
    ["ﬁne ① ２", "fine-1-2"],
    ["日本語", "page"],
    ["\u05e9\u05dc\u05d5\u05dd", "page"],
    ["🔥🔥", "page"],
    ["日本 Status", "status"],
    ["<script>alert(1)</script>", "script-alert-1-script"],
    ["../../etc/passwd", "etc-passwd"],
    ["---", "page"],
    ["\ud800", "page"],
    ["one two three four five six seven eight nine ten eleven twelve", undefined],
    ["x".repeat(200), "x".repeat(60)],
  ] as const
) {
  Deno.test(`the slug of ${JSON.stringify(name).slice(0, 50)} is URL-friendly`, () => {
    if (slug !== undefined) equal(createSlug(name), slug);
    match(createSlug(name), /^[a-z0-9]+(-[a-z0-9]+)*$/);
    equal(createSlug(name).length <= 60, true);
  });
}

Deno.test("a slug that is taken gets the first free number", () => {
  equal(findFreeSlug("acme", []), "acme");
  equal(findFreeSlug("acme", ["acme"]), "acme-2");
  equal(findFreeSlug("acme", ["acme", "acme-2", "acme-4", "acme-x"]), "acme-3");
  equal(findFreeSlug("acme", ["acme-2"]), "acme");
});
