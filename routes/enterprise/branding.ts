/**
 * /branding: how the service looks to people.
 *
 * @module
 */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import {
  activateBrand,
  activeBrand,
  changeBrand,
  createBrand,
  getBrand,
  listBrands,
  LOGO_URL_MAX,
  removeBrand,
} from "../../services/enterprise/branding.ts";
import { CUSTOM_CSS_MAX } from "../../services/enterprise/css_sanitizer.ts";
import { endpoint } from "../endpoint.ts";
import { Done, done, IdParams, Timestamp } from "../shapes.ts";

const NAME_MAX = 100;
const FONT_MAX = 100;

const name = () =>
  z.string().min(1).max(NAME_MAX)
    .refine((text) => /\S/.test(text), { error: "must not be empty" })
    .refine((text) => !/[\p{Cc}\u2028\u2029]/u.test(text), {
      error: "must be one line without control characters",
    });

const logo = (description: string) =>
  z.string().min(1).max(LOGO_URL_MAX).nullable().meta({
    description,
    format: "uri",
    example: "https://www.example.com/logo.svg",
  });

const color = (description: string, example: string) =>
  z.string()
    .regex(/^#([0-9a-f]{3}|[0-9a-f]{6})$/i, { error: "must be a color such as #0a7 or #00aa77" })
    .nullable()
    .meta({ description, example });

const fields = {
  name: name().meta({ description: "What it is called among brands", example: "Harbor" }),
  app_name: name().meta({
    description: "What the service is called under it; the name unless given",
    example: "Harbor Operations",
  }),
  logo_url: logo("An HTTPS address"),
  logo_dark_url: logo("For dark surroundings; an HTTPS address"),
  email_logo_url: logo("For mails; an HTTPS address"),
  primary_color: color("`#rgb` or `#rrggbb`", "#0f5c6e"),
  secondary_color: color("`#rgb` or `#rrggbb`", "#e8a33d"),
  accent_color: color("`#rgb` or `#rrggbb`", "#b5482a"),
  font_family: z.string().max(FONT_MAX)
    .regex(/^(?=.*[a-z0-9])[a-z0-9 -]+$/i, {
      error: "must be made of letters, digits, spaces and hyphens",
    })
    .nullable()
    .meta({ description: "Used where whoever looks has it installed", example: "Inter" }),
  custom_css: z.string().max(CUSTOM_CSS_MAX).nullable().meta({
    description:
      "A style sheet that only styles. Refused are, whatever escapes and comments hide " +
      "them: `expression()`, `javascript:`, `@import`, `</style` and other tags, bindings and " +
      "behaviors, and `url()` of anything but `data:image/...` and `#id`.",
    example: ".top { letter-spacing: 0.02em }",
  }),
};

const { name: required, app_name, ...looks } = fields;

const EXAMPLE = {
  name: "Harbor",
  app_name: "Harbor Operations",
  logo_url: "https://www.example.com/logo.svg",
  logo_dark_url: "https://www.example.com/logo-dark.svg",
  primary_color: "#0f5c6e",
  accent_color: "#b5482a",
  font_family: "Inter",
  custom_css: ".top { letter-spacing: 0.02em }",
};

const NewBrand = z.object({
  name: required,
  app_name: app_name.optional(),
  logo_url: looks.logo_url.default(null),
  logo_dark_url: looks.logo_dark_url.default(null),
  email_logo_url: looks.email_logo_url.default(null),
  primary_color: looks.primary_color.default(null),
  secondary_color: looks.secondary_color.default(null),
  accent_color: looks.accent_color.default(null),
  font_family: looks.font_family.default(null),
  custom_css: looks.custom_css.default(null),
}).meta({ example: EXAMPLE });

const BrandChange = z.object(fields).partial().meta({ example: EXAMPLE });

const Brand = z.object({
  id: z.string(),
  ...fields,
  is_active: z.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
});

const UNKNOWN = { 404: "There is no such brand" };

const read = { role: "viewer", permission: "settings:read" } as const;
const write = { role: "admin", permission: "settings:write" } as const;

export const brandingEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/branding/",
    summary: "List brands",
    description: "Newest first, without their style sheets.",
    ...read,
    returns: z.object({ brands: z.array(Brand.omit({ custom_css: true })) }),
  }, () => listBrands(deps)),

  // Before `/:id`, which would take its path.
  endpoint({
    method: "get",
    path: "/branding/active",
    summary: "Show the active brand",
    description: "Needs no token. `null` when none is active: then the looks are those that are " +
      "built in.",
    role: "public",
    anyAddress: true,
    returns: z.object({ brand: Brand.nullable() }),
    etag: true,
  }, () => activeBrand(deps)),

  endpoint({
    method: "get",
    path: "/branding/:id",
    summary: "Show a brand",
    ...read,
    params: IdParams,
    returns: Brand,
    failures: UNKNOWN,
  }, ({ params }) => getBrand(deps, params.id)),

  endpoint({
    method: "post",
    path: "/branding/",
    summary: "Create a brand",
    description: "It is seen when it is activated.",
    ...write,
    body: NewBrand,
    returns: Brand,
    status: 201,
    failures: { 409: "There are 100 brands already" },
  }, ({ body }) => createBrand(deps, { ...body, app_name: body.app_name ?? body.name })),

  endpoint({
    method: "put",
    path: "/branding/:id",
    summary: "Change a brand",
    description: "What is left out stays as it is; `null` takes it away. Where the brand is " +
      "active, it is seen at once.",
    ...write,
    params: IdParams,
    body: BrandChange,
    returns: Brand,
    failures: UNKNOWN,
  }, ({ params, body }) => changeBrand(deps, params.id, body)),

  endpoint({
    method: "delete",
    path: "/branding/:id",
    summary: "Delete a brand",
    description: "After the active one, none is active.",
    ...write,
    params: IdParams,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => {
    removeBrand(deps, params.id);
    return done;
  }),

  endpoint({
    method: "put",
    path: "/branding/:id/activate",
    summary: "Make a brand the active one",
    description: "Every other one is no longer active.",
    ...write,
    params: IdParams,
    returns: Brand,
    failures: UNKNOWN,
  }, ({ params }) => activateBrand(deps, params.id)),
];
