import { deepEqual, equal, throws } from "node:assert/strict";
import { SamlError, type SamlReason } from "../../../../services/enterprise/saml/error.ts";
import {
  attributeOf,
  textOf,
  trimXml,
  type XmlElement,
} from "../../../../services/enterprise/saml/tree.ts";
import { DEPTH_MAX, NAMES_MAX, readXml } from "../../../../services/enterprise/saml/xml.ts";
import { processorMsOf } from "../../../helpers/in_time.ts";

const refusal = (reason: SamlReason) => (error: unknown) => {
  equal(error instanceof SamlError ? error.reason : error, reason);
  return true;
};

/** `{namespace}name` of an element and of all below it. */
const names = ({ namespace, name, children }: XmlElement): unknown => [
  `{${namespace}}${name}`,
  ...children.map(names),
];

Deno.test("prefixes mean the namespace that is declared nearest", () => {
  const root = readXml(
    `<a:r xmlns:a="u:1" xmlns="u:2"><b/><a:b xmlns:a="u:3"><a:c/><d xmlns=""/></a:b><a:b/></a:r>`,
  );
  deepEqual(names(root), [
    "{u:1}r",
    ["{u:2}b"],
    ["{u:3}b", ["{u:3}c"], ["{}d"]],
    ["{u:1}b"],
  ]);
});

Deno.test("attributes without prefix are in no namespace", () => {
  const root = readXml(`<r xmlns="u:1" xmlns:p="u:2" a='1' p:a="2"/>`);
  equal(attributeOf(root, "a"), "1");
  deepEqual(root.attributes.map(({ namespace, name }) => `{${namespace}}${name}`).slice(2), [
    "{}a",
    "{u:2}a",
  ]);
});

Deno.test("references are decoded once, white space is kept or normalized as XML says", () => {
  const root = readXml(`<r a="1&#10;2\n3&lt;&apos;"> &amp;lt;&#x1F600;\n&quot;&#65; </r>`);
  equal(attributeOf(root, "a"), "1\n2 3<'");
  equal(root.text, ` &lt;\u{1F600}\n"A `);
  equal(textOf(root, "name_id"), `&lt;\u{1F600}\n"A`);
});

Deno.test("comments do not part a text, elements make it refused", () => {
  const [a, b] = readXml("<r><a>x<!-- y -->z</a><b>x<c/>z</b></r>").children;
  deepEqual([textOf(a!, "name_id"), a!.hasComment, b!.hasComment], ["xz", true, false]);
  throws(() => textOf(b!, "name_id"), refusal("name_id"));
});

Deno.test("only references to something else than white space are noted", () => {
  const flags = (xml: string) => readXml(xml).hasReference;
  deepEqual(
    ["<r>a</r>", "<r>a&#13;&#xA;</r>", "<r>&#97;</r>", "<r>&amp;</r>"].map(flags),
    [false, false, true, true],
  );
});

Deno.test("other spaces than XML's belong to a text", () => {
  equal(trimXml(" \t\r\n\u00a0a \u2003\n"), "\u00a0a \u2003");
});

Deno.test("references to tabs and to the private area are characters, prefixes part attributes", () => {
  const root = readXml(`<r xmlns:p="u" p:a="1" b="&#9;">&#xE000;</r>`);
  deepEqual([root.text, attributeOf(root, "a"), attributeOf(root, "b")], [
    "\uE000",
    undefined,
    "\t",
  ]);
});

Deno.test("elements have at most 200 names", () => {
  const of = (count: number) => Array.from({ length: count }, (_, i) => `<a${i}></a${i}>`).join("");
  equal(readXml(`<r>${of(NAMES_MAX - 1)}</r>`).children.length, NAMES_MAX - 1);
  throws(() => readXml(`<r>${of(NAMES_MAX)}</r>`), refusal("too_many_nodes"));
});

Deno.test("nesting is taken to its limit and not deeper", () => {
  const nested = (depth: number) => "<a>".repeat(depth) + "</a>".repeat(depth);
  readXml(nested(DEPTH_MAX));
  throws(() => readXml(nested(DEPTH_MAX + 1)), refusal("too_deep"));
});

for (
  const [xml, reason] of [
    ["", "malformed"],
    ["text", "malformed"],
    ["<a>", "malformed"],
    ["<a></b>", "malformed"],
    // Refusals repeat names.
    [`<${"a".repeat(101)}/>`, "malformed"],
    [`<a ${"b".repeat(101)}="c"/>`, "malformed"],
    ["<a></A>", "malformed"],
    ["<a/><b/>", "malformed"],
    ["<a/>text", "malformed"],
    ["text<a/>", "malformed"],
    ["</a>", "malformed"],
    ["<a", "malformed"],
    ["<a b>", "malformed"],
    ["<a b=c/>", "malformed"],
    [`<a b="c"d="e"/>`, "malformed"],
    [`<a b="<"/>`, "malformed"],
    [`<a b="c" b="d"/>`, "malformed"],
    [`<a xmlns:x="u" xmlns:y="u" x:b="1" y:b="2"/>`, "malformed"],
    ["<a / >", "malformed"],
    ["< a/>", "malformed"],
    ["<1a/>", "malformed"],
    ["<a:b:c/>", "malformed"],
    ["<:a/>", "malformed"],
    ["<ä/>", "malformed"],
    ["<a></a b>", "malformed"],
    ["<a>]]></a>", "malformed"],
    ["<a>&</a>", "malformed"],
    ["<a>& amp;</a>", "malformed"],
    ["<a><!-- -- --></a>", "malformed"],
    ["<a><!-- --->", "malformed"],
    ["<a><!-- ", "malformed"],
    ["<a>&lt</a>", "malformed"],
    ["<a>&lol;</a>", "entity"],
    ["<a>&AMP;</a>", "entity"],
    ["<a>&constructor;</a>", "entity"],
    [`<a b="&lol;"/>`, "entity"],
    ["<a>&#X41;</a>", "malformed"],
    ["<a>&#0;</a>", "character"],
    ["<a>&#x8;</a>", "character"],
    ["<a>&#xD800;</a>", "character"],
    ["<a>&#xFFFF;</a>", "character"],
    ["<a>&#x110000;</a>", "character"],
    ["<a>&#9999999;</a>", "character"],
    ["<!DOCTYPE a><a/>", "dtd"],
    ["<a><!ENTITY b 'c'></a>", "dtd"],
    ["<a/><!DOCTYPE a>", "dtd"],
    ["<a><![CDATA[b]]></a>", "cdata"],
    ["<a><![INCLUDE[b]]></a>", "dtd"],
    ["<a><?b?></a>", "processing_instruction"],
    ["<?b?><a/>", "processing_instruction"],
    [" <?xml version='1.0'?><a/>", "processing_instruction"],
    ["<b:a/>", "namespace"],
    [`<a b:c="d"/>`, "namespace"],
    ["<xmlns:a/>", "namespace"],
    [`<a xmlns:b=""/>`, "namespace"],
    [`<a xmlns:xml="u"/>`, "namespace"],
    [`<a xmlns:xmlns="u"/>`, "namespace"],
    [`<a xmlns:b="http://www.w3.org/XML/1998/namespace"/>`, "namespace"],
    [`<a xmlns="http://www.w3.org/2000/xmlns/"/>`, "namespace"],
    [`<a xmlns="http://www.w3.org/1999/xhtml"><script>&lt;</script></a>`, "namespace"],
    // Parts that the signature library would drop, or write without escapes.
    [`<a xmlnsb="c"/>`, "namespace"],
    [`<a xmlnsb:c="d"/>`, "namespace"],
    [`<a xmlns:b='c" ID="d'/>`, "namespace"],
    [`<a xmlns:b="c&quot; ID=&quot;d"/>`, "namespace"],
    [`<a xmlns:b="c d"/>`, "namespace"],
  ] as [string, SamlReason][]
) {
  Deno.test(`the XML ${JSON.stringify(xml)} is refused: ${reason}`, () => {
    throws(() => readXml(xml), refusal(reason));
  });
}

Deno.test("whatever is not closed is refused in time that grows with its length", async () => {
  for (const unit of ["<a ", " ", "<!--", "&", "<a b='", "&#", "]", "</", '<a b="c" ']) {
    const ms = await processorMsOf(() => {
      throws(() => readXml(`<r>${unit.repeat(250_000 / unit.length)}`), SamlError);
      throws(() => readXml(`<r ${unit.repeat(250_000 / unit.length)}`), SamlError);
    });
    equal(ms < 3_000, true, unit);
  }
});
