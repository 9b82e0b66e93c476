/** The event that shows whether messages arrive. @module */

import { kind } from "./kind.ts";

export const testKinds = [
  kind("test", {
    data: {} as { message: string },
    description: "A test was requested, e.g. by `POST /api/webhooks/{id}/test`",
    group: "Tests",
    words: "test",
    title: "Test: messages arrive",
    lines: (_, text) => [text("message")],
    tone: "news",
    permission: "webhooks:read",
    ignoresSilences: true,
  }),
];
