/** The event that shows whether messages arrive. @module */

import { kind } from "./kind.ts";

export const testKinds = [
  kind("test", {
    data: {} as { message: string },
    description: "A test of a webhook or channel was requested",
    group: "Tests",
    words: "test",
    title: "Test: messages arrive",
    lines: (_, text) => [text("message")],
    permission: "webhooks:read",
    ignoresSilences: true,
  }),
];
