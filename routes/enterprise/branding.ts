/** /branding: name, logos and colors of the service. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import {
  activateBrand,
  BRANDS_MAX,
  changeBrand,
  createBrand,
  getActiveBrand,
  getBrand,
  listBrands,
  LOGO_URL_MAX,
  removeBrand,
} from "../../services/enterprise/branding/brands.ts";
import { CUSTOM_CSS_MAX } from "../../services/enterprise/branding/css_sanitizer.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Color, Done, oneLine, Timestamp } from "../contract/shapes.ts";

const NAME_MAX = 100;
const FONT_MAX = 100;

const logo = (description: string) =>
  z.string().min(1).max(LOGO_URL_MAX).nullable().meta({
    description,
    example: "https://www.example.com/logo.svg",
  });

const color = (example: string) =>
  Color.nullable().meta({ description: "`#rgb` or `#rrggbb`", example });

const fields = {
  name: oneLine(NAME_MAX).meta({
    description: "The name of the brand itself, for administrators",
    example: "Harbor",
  }),
  app_name: oneLine(NAME_MAX).meta({
    description: "Name of the service for users",
    example: "Harbor Operations",
  }),
  logo_url: logo("An HTTPS address"),
  logo_dark_url: logo("An HTTPS address; for dark backgrounds"),
  email_logo_url: logo("An HTTPS address; for mails"),
  primary_color: color("#0f5c6e"),
  secondary_color: color("#e8a33d"),
  accent_color: color("#b5482a"),
  font_family: z.string().max(FONT_MAX)
    .regex(/^(?=.*[a-zA-Z0-9])[a-zA-Z0-9 -]+$/, {
      error: "must contain only letters, digits, spaces and hyphens",
    })
    .nullable()
    .meta({ description: "Used by browsers that have the font installed", example: "Inter" }),
  custom_css: z.string().max(CUSTOM_CSS_MAX).nullable().meta({
    description: "A style sheet that loads and runs nothing. It must not contain " +
      "`expression()`, `javascript:`, `@import`, `</style` or other tags, bindings, behaviors, or " +
      "`url()` except of `data:image/...` and `#id`, even if hidden by escapes or comments.",
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
  app_name: app_name.optional().meta({
    description: "Name of the service for users. Default: `name`",
    example: "Harbor Operations",
  }),
  logo_url: looks.logo_url.default(null),
  logo_dark_url: looks.logo_dark_url.default(null),
  email_logo_url: looks.email_logo_url.default(null),
  primary_color: looks.primary_color.default(null),
  secondary_color: looks.secondary_color.default(null),
  accent_color: looks.accent_color.default(null),
  font_family: looks.font_family.default(null),
  custom_css: looks.custom_css.default(null),
}).meta({ id: "NewBrand", example: EXAMPLE });

const BrandChange = z.object(fields).partial().meta({ id: "BrandChanges", example: EXAMPLE });

const Brand = z.object({
  id: z.string(),
  ...fields,
  is_active: z.boolean(),
  created_at: Timestamp,
  updated_at: Timestamp,
}).meta({ id: "Brand" });

const UNKNOWN = { 404: "The brand does not exist" };

const READ = { role: "viewer", permission: "settings:read" } as const;
const WRITE = { role: "admin", permission: "settings:write" } as const;

export const brandingEndpoints = (deps: Deps) => [
  endpoint("GET /branding/", {
    operationId: "listBrands",
    summary: "List brands",
    description: "Newest first, without `custom_css`.",
    ...READ,
    returns: z.object({ brands: z.array(Brand.omit({ custom_css: true })) }).meta({
      id: "BrandList",
    }),
  }, () => listBrands(deps)),

  // Before `/:id`, which would match its path.
  endpoint("GET /branding/active", {
    operationId: "getActiveBrand",
    summary: "Get the active brand",
    description:
      "Needs no token. `brand` is null when no brand is active and the built-in design " +
      "applies.",
    role: "public",
    anyAddress: true,
    returns: z.object({ brand: Brand.nullable() }).meta({ id: "ActiveBrand" }),
    etag: true,
  }, () => getActiveBrand(deps)),

  endpoint("GET /branding/:id", {
    operationId: "getBrand",
    summary: "Get a brand",
    ...READ,
    returns: Brand,
    failures: UNKNOWN,
  }, ({ params }) => getBrand(deps, params.id)),

  endpoint("POST /branding/", {
    operationId: "createBrand",
    summary: "Create a brand",
    description: "The brand is not visible until it is activated.",
    ...WRITE,
    body: NewBrand,
    returns: Brand,
    status: 201,
    failures: { 409: `Limit of ${BRANDS_MAX} brands reached` },
  }, ({ body }) => createBrand(deps, { ...body, app_name: body.app_name ?? body.name })),

  endpoint("PUT /branding/:id", {
    operationId: "updateBrand",
    summary: "Update a brand",
    description:
      "Omitted fields keep their values; null removes a value. Changes to the active brand " +
      "are visible immediately.",
    ...WRITE,
    body: BrandChange,
    returns: Brand,
    failures: UNKNOWN,
  }, ({ params, body }) => changeBrand(deps, params.id, body)),

  endpoint("DELETE /branding/:id", {
    operationId: "deleteBrand",
    summary: "Delete a brand",
    description: "After the active brand is deleted, no brand is active.",
    ...WRITE,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => removeBrand(deps, params.id)),

  endpoint("PUT /branding/:id/activate", {
    operationId: "activateBrand",
    summary: "Activate a brand",
    description: "Deactivates the previously active brand.",
    ...WRITE,
    returns: Brand,
    failures: UNKNOWN,
  }, ({ params }) => activateBrand(deps, params.id)),
];
