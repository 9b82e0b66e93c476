import { deepEqual, equal } from "node:assert/strict";
import { captionOf } from "../../../services/containers/captions.ts";
import { iconOf } from "../../../services/containers/icons.ts";
import { listItem } from "../../../services/containers/containers.ts";
import { containerOf } from "../../helpers/fake_containers.ts";
import { testApp } from "../../helpers/test_app.ts";

/** The first bytes of an image, with its size at `at`. */
function image(kind: string, start: string, at: number, size: number[]): string {
  const bytes = new Uint8Array(40);
  bytes.set(new TextEncoder().encode(start));
  if (kind === "png") bytes.set([0x89, ...new TextEncoder().encode("PNG\r\n\x1a\n")]);
  bytes.set(size, at);
  return `data:image/${kind};base64,${bytes.toBase64()}`;
}

const png = (width: number, height: number) =>
  image("png", "........\0\0\0\rIHDR", 16, [...big(width), ...big(height)]);
const big = (number: number) => [0, 0, number >> 8, number & 0xff];

const hasIcon = (text: string) => "url" in (iconOf({ "longshore.icon": text }) ?? {});

Deno.test("icons are small PNG and WebP images of a bounded size", () => {
  equal(hasIcon(png(64, 64)), true);
  equal(hasIcon(png(512, 512)), true);
  equal(hasIcon(png(513, 64)), false, "too wide");
  equal(hasIcon(png(64, 0)), false, "empty");
  equal(hasIcon(image("webp", "RIFF....WEBPVP8X", 24, [63, 0, 0, 63, 0, 0])), true);
  equal(hasIcon(image("webp", "RIFF....WEBPVP8X", 24, [63, 0, 0, 0, 2, 0])), false, "513 high");
  equal(hasIcon(image("webp", "RIFF....WEBPVP8 ", 26, [64, 0, 64, 0])), true);
  equal(hasIcon(image("webp", "RIFF....WEBPVP8 ", 26, [64, 0, 1, 2])), false, "513 high");
  equal(hasIcon(image("webp", "RIFF....WEBPVP8L", 20, [0x2f, 63, 0xc0, 0x0f, 0])), true);
  equal(hasIcon(image("webp", "RIFF....WEBPVP8L", 20, [0x2f, 0xff, 0xff, 0x0f, 0])), false);
});

Deno.test("what is not such an image is not an icon", () => {
  const svg = btoa("<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>");
  for (
    const text of [
      "https://icons.example.com/grafana.png",
      "grafana.png",
      "javascript:alert(1)",
      `data:image/svg+xml;base64,${svg}`,
      `data:image/png;base64,${svg}`,
      `data:text/html;base64,${btoa("<b>x</b>")}`,
      png(64, 64).replace("png", "webp"),
      png(64, 64).replace("png", "PNG"),
      `${png(64, 64)}"onerror=alert(1)`,
      png(64, 64).slice(0, 40),
      `data:image/png;base64,${"A".repeat(16_400)}`,
    ]
  ) equal(hasIcon(text), false, text.slice(0, 60));
});

Deno.test("a label names an uploaded icon, unless another label has an image", () => {
  const idOf = (text: string) => iconOf({ "homepage.icon": text })?.id;
  equal(idOf("grafana"), "name:grafana");
  equal(idOf(" Grafana.PNG "), "name:grafana");
  equal(idOf("sh-node-red.v2.svg"), "name:sh-node-red.v2");
  for (const text of ["", ".png", "../a", "a/b.png", "https://a.example/b.png", "a".repeat(65)]) {
    equal(idOf(text), undefined, text);
  }
  const icon = png(32, 32);
  equal(
    iconOf({ "longshore.icon": "grafana", "homepage.icon": icon })?.id,
    iconOf({ "longshore.icon": icon })!.id,
  );
});

Deno.test("captions come from Longshore's labels, then from Homepage's, as short lines", () => {
  deepEqual(captionOf({ labels: {} }), { icon: null, group: null, description: null });
  const icon = png(32, 32);
  const caption = captionOf({
    labels: {
      "longshore.icon": "https://example.com/a.png",
      "homepage.icon": icon,
      "longshore.group": " \n\t ",
      "homepage.group": "Moni\u0000toring\r\nand more",
      "longshore.description": "x".repeat(10_000),
      "homepage.description": "not this",
    },
  });
  deepEqual(caption, {
    icon: iconOf({ "homepage.icon": icon })!.id,
    group: "Moni toring and more",
    description: `${"x".repeat(199)}…`,
  });
});

Deno.test("an address has the end of the certificate that was found at its host and port", () => {
  using app = testApp();
  const expiresAt = "2026-03-01T00:00:00.000Z";
  app.deps.alerts.certificates = [{ domain: "a.example.com", port: 8443, expiresAt }];
  const endOf = (url: string) =>
    listItem(app.deps, containerOf({ name: "web", labels: { "longshore.url": url } }))
      .links[0]!.certificateExpiresAt;
  equal(endOf("https://a.example.com:8443/x"), expiresAt);
  equal(endOf("https://a.example.com/"), null, "another port");
  equal(endOf("http://a.example.com:8443/"), null, "without TLS");
  equal(endOf("https://b.example.com:8443/"), null);
});
