import { deepEqual, equal } from "node:assert/strict";
import { findExpressions, isSuperlinear } from "./expressions.ts";

/** Folders whose code reads text from outside. */
const FOLDERS = ["commands", "db", "engine", "routes", "services"];

const root = new URL("../../", import.meta.url);

/**
 * Expressions that the check finds, by file, with the reason why they cannot take long. Foreign text
 * needs a limit of its length.
 */
const CHECKED: Readonly<Record<string, readonly [expression: RegExp, reason: string][]>> = {
  "engine/image_archives.ts": [
    [/(?<![\w./-])\/(?:[^\s/:]+\/)+/g, "a message of the engine about one path, at most 4096"],
  ],
  "routes/pipeline/authorize.ts": [
    [/^bearer +(.+)$/i, "a header, which has no line break: the first way matches"],
  ],
  "services/containers/networks.ts": [
    [
      /unsupported driver|plugin .*not (be retrieved|found)|no volume plugin/i,
      "a message of the engine",
    ],
  ],
  "services/containers/exec/exec.ts": [
    [
      /executable file (`.*` )?not found|no such file or directory|OCI runtime exec failed|permission denied|exec format error/i,
      "a message of the engine",
    ],
  ],
  "services/input/nested_quantifiers.ts": [
    [
      /\\Q[^]*?(?:\\E|$)|\\[pPx]\{[^}]*\}|\\[^]|\[\^?\]?(?:\[:\^?\w+:\]|\\[^]|[^\]\\])*\]|\((?:\?(?:P?<\w+>|[\w-]*:?))?|\{\d+(?:,\d*)?\}|[^]/gu,
      "a pattern of at most 200 characters",
    ],
  ],
  "services/metrics/host/proc_text.ts": [
    [/^cpu +(.+)$/m, "a file of the kernel"],
    [/^cpu\d+ +(.+)$/gm, "a file of the kernel"],
  ],
  "services/logs/follow/level.ts": [
    [
      /^[[(<|]*(?:[\w-]{1,32}:)?([A-Za-z]{3,13})[\])>|]*:?[\])>|]*$/,
      "the first 256 characters of a line",
    ],
  ],
  "services/logs/logs.ts": [
    [
      /does not support reading|log driver.*(none|not supported|passthrough)/i,
      "the engine's message",
    ],
  ],
  "services/logs/start_time.ts": [
    [/(\d+)([smhd])/g, "at most 28 characters, which another expression has checked"],
  ],
  "services/prometheus/kernel_cpu.ts": [
    [/^([^\t:]+?)\s*: ?(.*)$/gm, "a file of the kernel"],
  ],
  "services/prometheus/kernel_memory.ts": [
    [/\((.*)\)/, "a file of the kernel"],
    [/^(oom_kill|pgpg\w*|pswp\w*|pg\w*fault\w*)$/, "a file of the kernel"],
  ],
  "services/prometheus/kernel_network.ts": [
    [/^(\w*?6)(\w+)$/, "a file of the kernel"],
  ],
  "services/messages/channels/url.ts": [
    [
      /^([a-z][a-z+]*):\/\/(?:([^/?#]*)@)?([^/?#@]*)([^?]*)(?:\?(.*))?$/i,
      "the URL of a channel, at most 2048 characters",
    ],
  ],
  "services/images/registries/challenges.ts": [
    [
      /\s*,?\s*(?:([!#$%&'*+.^_`|~\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))|([!#$%&'*+.^_`|~\w-]+)(?=\s|,|$))/y,
      "the first 8192 characters of a header, at most 50 times",
    ],
  ],
  "services/enterprise/branding/css_sanitizer.ts": [
    [
      /(\\[\s\S]|"(?:[^"\\\n\r\f]|\\[\s\S])*"?|'(?:[^'\\\n\r\f]|\\[\s\S])*'?)|\/\*[\s\S]*?(?:\*\/|$)/g,
      "a comment without its end goes on to the end of the text: no way fails",
    ],
    [/\/\*[\s\S]*?(?:\*\/|$)/g, "a comment without its end goes on to the end of the text"],
  ],
  "services/enterprise/saml/tree.ts": [
    [
      /^[ \t\n\r]+|(?<![ \t\n\r])[ \t\n\r]+$/g,
      "the lookbehind lets it begin only once in each run of spaces",
    ],
  ],
  "services/outbound/url_secrets.ts": [
    [
      /^(https?:\/\/)([^/?#\\]*@)?([^?#]*)(\?[^#]*)?(#.*)?$/is,
      "the URL of a webhook or channel, at most 2048 characters",
    ],
  ],
  "services/text/redact.ts": [
    [
      /([a-z][a-z0-9+.-]*:\/\/)((?:(?![a-z][a-z0-9+.-]*:\/\/)[^])*)/gi,
      "a value of the service's own configuration",
    ],
  ],
  "services/text/system_reason.ts": [
    [/ \(os error \d+\).*$/s, "a message of the runtime"],
  ],
};

/** Expressions that are made at run time; their parts are constants, or escaped. */
const MADE: Readonly<Record<string, number>> = {
  "routes/contract/shapes.ts": 1,
  "routes/pipeline/unknown_path.ts": 1,
  "services/prometheus/kernel_network.ts": 1,
  "services/enterprise/branding/css_sanitizer.ts": 1,
  "services/enterprise/saml/document.ts": 1,
  "services/enterprise/saml/xml.ts": 3,
};

for (
  const [expression, expected] of [
    [/a+/, false],
    [/\/+$/, true],
    [/^\/+$/, false],
    [/(?<=.)\/+$/, true],
    [/^\s+|\s+$/, true],
    [/[ \t]+#/, true],
    [/(?:^|[ \t]+)#.*$/, true],
    [/^[ \t]*#/m, false],
    [/^\s*#/m, true],
    [/^(a+)+$/, true],
    [/^(?:a|a)*$/, true],
    [/^(?:a|b)*$/, false],
    [/^a*b*$/, false],
    [/^a*a*$/, true],
    [/^(?:a{1,3}){1,2}$/, false],
    [/^(?:a{0,4}:)+$/, false],
    [/^(?:a{0,90})+$/, true],
    [/^[-+]?(?:\d+\.?\d*|\.\d+)$/, true],
    [/^[-+]?(?:\d+(?:\.\d*)?|\.\d+)$/, false],
    [/^(.+)-(\d+)$/, false],
    [/^[\p{L}\d]+(?:-[\p{L}\d]+)*$/u, false],
    [/^(?=.*a.*b)c$/, true],
    [/url\( *["']? *#/, true],
    [/url\( *(?:["'] *)?#/, false],
  ] as const
) {
  Deno.test(`the check ${expected ? "finds" : "accepts"} ${expression}`, () => {
    equal(isSuperlinear(expression.source, expression.flags), expected);
  });
}

Deno.test("the literals of expressions are found between strings, templates and divisions", () => {
  const text = [
    'const a = "/x/" + `${b / c} ${d.replace(/e"/g, `/f/`)}` / 2;',
    "// /g/",
    '/* /h/ */ const i = [/[/"]j/, k / l / m, /n/y];',
    "return /o\\//.test(p) ? q : /r/;",
  ].join("\n");
  deepEqual(findExpressions(text).map(({ source, flags }) => `${source} ${flags}`), [
    'e" g',
    '[/"]j ',
    "n y",
    "o\\/ ",
    "r ",
  ]);
});

Deno.test("no expression takes more than linear time, except those with a reason", async () => {
  const found: string[] = [];
  let count = 0;
  for await (const file of sources()) {
    for (const { source, flags } of findExpressions(file.text)) {
      // Throws for what is not an expression.
      new RegExp(source, flags);
      count++;
      if (isSuperlinear(source, flags)) found.push(`${file.path} /${source}/${flags}`);
    }
  }
  const checked = Object.entries(CHECKED).flatMap(([path, expressions]) =>
    expressions.map(([expression]) => `${path} ${expression}`)
  );
  deepEqual(found.sort(), checked.sort());
  // The search itself finds what there is.
  equal(count > 400, true, `${count}`);
});

Deno.test("expressions that are made at run time are known", async () => {
  const found: Record<string, number> = {};
  for await (const { path, text } of sources()) {
    const made = text.split("new RegExp(").length - 1;
    if (made > 0) found[path] = made;
  }
  deepEqual(found, MADE);
});

async function* sources(folders = FOLDERS): AsyncGenerator<{ path: string; text: string }> {
  for (const folder of folders) {
    const entries = await Array.fromAsync(Deno.readDir(new URL(`${folder}/`, root)));
    for (const { name, isDirectory } of entries.sort((a, b) => a.name < b.name ? -1 : 1)) {
      const path = `${folder}/${name}`;
      if (isDirectory) yield* sources([path]);
      else if (name.endsWith(".ts")) {
        yield { path, text: await Deno.readTextFile(new URL(path, root)) };
      }
    }
  }
}
