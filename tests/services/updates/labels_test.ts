import { deepEqual, equal, match } from "node:assert/strict";
import {
  hasVersionPolicy,
  labelsOfImage,
  UPDATE_POLICIES,
  updatePolicy as policyWith,
} from "../../../services/updates/labels.ts";
import { compileTagFilter, tagPatternProblem } from "../../../services/updates/tag_filter.ts";

/** Of a container whose image has no labels. */
const updatePolicy = (labels: Record<string, string>) => policyWith(labels, {});

const WATCHTOWER = "com.centurylinklabs.watchtower";

Deno.test("a container without labels has the policy of the settings", () => {
  deepEqual(updatePolicy({ maintainer: "x" }), { level: "same", dependsOn: [], problems: [] });
});

for (const policy of UPDATE_POLICIES) {
  Deno.test(`longshore.update=${policy} is honoured, above the labels of other programs`, () => {
    const labels = {
      "longshore.update": policy,
      [`${WATCHTOWER}.enable`]: "true",
      "wud.watch": "0",
    };
    equal(updatePolicy(labels).policy, policy);
  });
}

for (
  const [labels, policy] of [
    [{ [`${WATCHTOWER}.enable`]: "true" }, "auto"],
    [{ [`${WATCHTOWER}.enable`]: "false" }, "off"],
    [{ [`${WATCHTOWER}.monitor-only`]: "true" }, "notify"],
    [{ [`${WATCHTOWER}.enable`]: "true", [`${WATCHTOWER}.monitor-only`]: "true" }, "notify"],
    [{ [`${WATCHTOWER}.enable`]: "false", [`${WATCHTOWER}.monitor-only`]: "true" }, "off"],
    [{ [`${WATCHTOWER}.monitor-only`]: "false" }, undefined],
    [{ "wud.watch": "true" }, "notify"],
    [{ "wud.watch": "false" }, "off"],
    [{ "diun.enable": "true" }, "notify"],
    [{ "diun.enable": "false" }, "off"],
    [{ [`${WATCHTOWER}.enable`]: "false", "diun.enable": "true" }, "notify"],
    [{ [`${WATCHTOWER}.enable`]: "true", "wud.watch": "false" }, "auto"],
  ] as const
) {
  Deno.test(`${JSON.stringify(labels)} means ${policy}`, () => {
    equal(updatePolicy(labels).policy, policy);
  });
}

Deno.test("the details of a policy are read with their units", () => {
  deepEqual(
    updatePolicy({
      "longshore.update": "auto",
      "longshore.update.level": "minor",
      "longshore.update.tags": "^1\\.",
      "longshore.update.min-age": "3d",
      "longshore.update.window": "0 3 * * sat Europe/Berlin 2h",
      "longshore.update.verify-timeout": "5m",
      "longshore.update.data": "undo",
      "longshore.update.rehearse": "false",
      "wud.tag.include": "ignored",
      "wud.tag.exclude": "-rc",
      [`${WATCHTOWER}.depends-on`]: "/db, cache,",
    }),
    {
      policy: "auto",
      level: "minor",
      tags: {
        include: { label: "longshore.update.tags", pattern: "^1\\." },
        exclude: { label: "wud.tag.exclude", pattern: "-rc" },
      },
      minAgeHours: 72,
      window: { cron: "0 3 * * sat", timeZone: "Europe/Berlin", durationMinutes: 120 },
      verifyTimeoutSeconds: 300,
      data: "undo",
      rehearse: false,
      dependsOn: ["db", "cache"],
      problems: [],
    },
  );
});

for (
  const [label, value, problem] of [
    ["longshore.update", "atuo", /must be off, notify, auto; got "atuo"/],
    ["longshore.update.level", "mayor", /same, patch, minor, major/],
    ["longshore.update.min-age", "2w", /duration from 0h to 8760h/],
    ["longshore.update.verify-timeout", "1s", /from 10s to 86400s/],
    ["longshore.update.data", "delete", /must be keep, undo; got "delete"/],
    ["longshore.update.rehearse", "maybe", /must be true or false; got "maybe"/],
    ["longshore.update.window", "0 3 * *", /five fields/],
    ["longshore.update.window", "0 3 * * * Mars/Base", /IANA/],
    ["longshore.update.window", "0 3 * * * UTC 2m", /from 5m to 10080m/],
    ["longshore.update.window", "0 3 * * * UTC x 2h", /such as/],
    [`${WATCHTOWER}.enable`, "yes", /must be true or false/],
  ] as const
) {
  Deno.test(`${label}=${value} is reported, and the container is not updated by itself`, () => {
    const { policy, problems } = updatePolicy({
      "longshore.update": "auto",
      "longshore.update.level": "same",
      [label]: value,
    });
    equal(policy, "notify");
    equal(problems.length, 1);
    match(problems[0]!, problem);
    match(problems[0]!, new RegExp(`^Label ${label.replaceAll(".", "\\.")}: `));
  });
}

Deno.test("a level or a pattern of tags asks for newer versions", () => {
  const asks = (labels: Record<string, string>) => hasVersionPolicy(updatePolicy(labels));
  equal(asks({ "longshore.update.level": "patch" }), true);
  equal(asks({ "wud.tag.include": "^\\d+$" }), true);
  equal(asks({ "wud.tag.exclude": "-rc" }), false);
  equal(asks({ "longshore.update": "auto" }), false);
});

Deno.test("a tag has to match the included pattern and not the excluded one", async () => {
  const { tags } = updatePolicy({ "wud.tag.include": "^\\d+\\.\\d+", "wud.tag.exclude": "-rc" });
  const accepts = await compileTagFilter(tags);
  deepEqual(["1.2.3", "1.2-rc1", "latest"].filter(accepts), ["1.2.3"]);
  deepEqual(["latest"].filter(await compileTagFilter()), ["latest"]);
});

for (const pattern of ["(a+)+$", "(?<=v)1", "(", "x".repeat(201)]) {
  Deno.test(`the pattern ${pattern.slice(0, 20)} is refused with the name of its label`, async () => {
    const { tags } = updatePolicy({ "longshore.update.tags": pattern });
    match(await tagPatternProblem(tags!) ?? "", /^Label longshore\.update\.tags: /);
  });
}

const AUTO = {
  "longshore.update": "auto",
  "longshore.update.level": "major",
  "longshore.update.min-age": "0",
  "longshore.update.tags": ".*",
  "longshore.update.window": "0 3 * * * UTC 1h",
  "longshore.update.verify-timeout": "10",
  [`${WATCHTOWER}.depends-on`]: "db",
};

for (
  const [what, image] of [["of the image", AUTO], ["of an unknown image", undefined]] as const
) {
  Deno.test(`labels ${what} turn no automatic updates on`, () => {
    const { image: restrictions, ...policy } = policyWith(AUTO, image);

    deepEqual(policy, { level: "same", dependsOn: [], problems: [] });
    deepEqual([restrictions?.minAgeHours, restrictions?.window !== undefined], [0, true]);
    equal(
      policyWith(
        { [`${WATCHTOWER}.enable`]: "true" },
        image && {
          [`${WATCHTOWER}.enable`]: "true",
        },
      ).policy,
      undefined,
    );
  });
}

Deno.test("labels of the image count where they are stricter", () => {
  for (const policy of ["off", "notify"]) {
    const labels = { "longshore.update": policy };
    equal(policyWith(labels, labels).policy, policy);
    equal(policyWith(labels, undefined).policy, policy);
    equal(policyWith({ ...labels, [`${WATCHTOWER}.enable`]: "true" }, labels).policy, "auto");
  }
  for (const [choice, counted] of [["undo", "undo"], ["keep", undefined]]) {
    const labels = { "longshore.update.data": choice! };
    equal(policyWith(labels, labels).data, counted);
    equal(policyWith(labels, {}).data, choice);
  }
  for (const [choice, counted] of [["true", true], ["false", undefined]] as const) {
    const labels = { "longshore.update.rehearse": choice };
    equal(policyWith(labels, labels).rehearse, counted);
    equal(policyWith(labels, labelsOfImage({ Config: null })).rehearse, choice === "true");
  }
  equal(labelsOfImage(undefined), undefined);
  const exclude = { "wud.tag.exclude": "-rc" };
  const own = { "longshore.update.level": "minor" };
  deepEqual(Object.keys(policyWith({ ...own, ...exclude }, exclude).tags ?? {}), ["exclude"]);
  equal(policyWith(exclude, exclude).tags, undefined);
});

Deno.test("a label with another value than that of the image is the user's", () => {
  const labels = { "longshore.update": "auto", "longshore.update.level": "patch" };

  const { policy, level } = policyWith(labels, { ...labels, "longshore.update": "off" });

  deepEqual([policy, level], ["auto", "same"]);
});
