import { z } from 'zod';
import { Id, ManagedBy, queryBool, Timestamp } from '#kernel/schemas.ts';
import { builtIns, DEFAULT } from './document/built-in.ts';
import { groups, kinds } from './document/kinds.ts';

const builtInIds = builtIns.map(({ id }) => id);

/** A UUIDv7, or the fixed id of a built-in theme. */
export const ThemeId = z
  .union([z.enum(builtInIds), Id])
  .meta({ id: 'ThemeId', description: `UUIDv7, or ${builtInIds.join(', ')}` });
export const ThemeParams = z.object({ id: ThemeId });
/** Any text is accepted, because every id gets a stylesheet. */
export const StylesheetParams = z.object({ id: z.string().max(100) });

const ShadowLayer = z
  .object({
    x: z.string(),
    y: z.string(),
    blur: z.string(),
    spread: z.string(),
    color: z.string().meta({ example: '#c8553d' }),
  })
  .meta({ id: 'ShadowLayer' });
const TokenValue = z.union([z.string(), z.number(), z.array(ShadowLayer)]).meta({ id: 'TokenValue' });

export const TokenSet = z.record(z.string(), TokenValue).describe('By the name of the token').meta({ id: 'TokenSet' });

const schemeNames = ['light', 'dark'] as const;

export const ContrastReport = z
  .object({
    scheme: z.enum(schemeNames),
    pair: z.string().describe('Such as text.primary on surface.0').meta({ example: 'text.primary on surface.0' }),
    ratio: z.number().describe('To 1, by WCAG').meta({ example: 17.5 }),
    required: z.number(),
    ok: z.boolean(),
  })
  .meta({ id: 'ContrastReport' });

const summary = {
  id: ThemeId,
  name: z.string().meta({ example: 'Evening' }),
  description: z.string().optional(),
  author: z.string().optional(),
  source: z.enum(['built-in', 'own']),
  base: ThemeId.nullable().describe(
    'Theme that supplies the tokens not set here; null for a built-in theme that sets all',
  ),
  version: z.string().describe('Changes with any token').meta({ example: '0.1.0' }),
  stylesheetUrl: z.string().meta({ example: '/api/v1/themes/foyer-dark/stylesheet?v=_IAPj3XSKvNgRTZF' }),
  previewColors: z
    .array(z.string())
    .describe('Five: #rrggbb of page, raised, text, accent and focus')
    .meta({ example: ['#0c0d11'] }),
  usedBy: z.int().optional().describe('Profiles that chose it; with settings:manage'),
  serverDefault: z.boolean(),
  managedBy: ManagedBy.optional(),
  revision: z.int(),
  createdAt: Timestamp,
  updatedAt: Timestamp,
};

export const ThemeSummary = z
  .object({
    ...summary,
    schemeNames: z.array(z.enum(schemeNames)).describe('The first is used for pages that select none'),
  })
  .meta({ id: 'ThemeSummary' });
export type ThemeSummary = z.output<typeof ThemeSummary>;

export const Theme = z
  .object({
    ...summary,
    schemes: z
      .object({ light: TokenSet.optional(), dark: TokenSet.optional() })
      .meta({ example: { dark: { 'color.accent': 'oklch(0.78 0.13 75)' } } }),
    shared: TokenSet.describe('Tokens that are the same in every scheme').meta({ example: { 'radius.card': '8px' } }),
    contrast: z.array(ContrastReport),
  })
  .meta({ id: 'Theme' });
export type Theme = z.output<typeof Theme>;

export const ThemeToken = z
  .object({
    name: z.string().meta({ example: 'Evening' }),
    property: z.string().describe('The CSS custom property'),
    kind: z.enum(kinds),
    min: z.number().optional().describe('Of a length in px, of a duration in ms'),
    max: z.number().optional().describe('Of a length in px (at most 20 rem too), of a duration in ms'),
    values: z.array(z.string()).optional(),
    scheme: z.boolean().describe('May differ between light and dark'),
    group: z.enum(groups),
    label: z.string(),
    default: TokenValue,
  })
  .meta({ id: 'ThemeToken' });

const modes = ['system', 'light', 'dark'] as const;
const switches = ['system', 'on', 'off'] as const;
const choice = {
  mode: z.enum(modes),
  themeId: ThemeId.nullable().default(null).describe("null follows the server's default"),
  lightThemeId: ThemeId.nullable().default(null).describe('In place of themeId where it is light'),
  darkThemeId: ThemeId.nullable().default(null).describe('In place of themeId where it is dark'),
  textScale: z.number().min(0.8).max(1.6).default(1),
  reducedMotion: z.enum(switches).default('system').describe('system follows the device'),
  highContrast: z.enum(switches).default('system').describe('system follows the device'),
};

export const ThemeSelection = z.object(choice).meta({ id: 'ThemeSelection' });
export type ThemeSelection = z.output<typeof ThemeSelection>;

export const ServerTheme = z
  .object({
    themeId: ThemeId,
    lightThemeId: ThemeId.optional(),
    darkThemeId: ThemeId.optional(),
    mode: z.enum(modes),
    allowChoice: z.boolean().describe('Profiles may choose themes of their own'),
  })
  .meta({ id: 'ServerTheme' });
export type ServerTheme = z.output<typeof ServerTheme>;

export const ThemesQuery = z.object({
  tokens: queryBool.default(false).describe('Includes the list of tokens, for theme editors'),
});
export const Themes = z.object({
  items: z.array(ThemeSummary).describe('Built-in ones first, then by name'),
  selection: ThemeSelection,
  serverDefault: ServerTheme,
  tokens: z.array(ThemeToken).optional(),
});
export type Themes = z.output<typeof Themes>;

export const ThemeQuery = z.object({
  resolved: queryBool.default(false).describe('Fills every token from the base'),
});

const line = (most: number) =>
  z
    .string()
    .max(most)
    .refine((text) => !/\p{Cc}/u.test(text), { error: 'no control characters', params: { code: 'control_character' } })
    .transform((text) => text.normalize('NFC').trim());
const Name = line(200).pipe(z.string().min(1).max(60)).meta({ minLength: 1 }); // surrounding blanks are removed
const Text = z
  .string()
  .max(300)
  .refine((text) => !/[^\P{Cc}\n]/u.test(text), {
    error: 'no control characters',
    params: { code: 'control_character' },
  });

/** Values are checked separately against the list of tokens, so that all problems are reported at once. */
const TokensIn = z
  .record(z.string().max(100), z.unknown())
  .describe('By the name of the token, or nested groups of value and type as design-tokens files have them');

/** Further members of getTheme's answer, ignored so that a theme can be read and created again. */
const ignored = Object.fromEntries(
  ['id', 'source', 'contrast', 'version', 'stylesheetUrl', 'previewColors', 'usedBy', 'serverDefault', 'revision']
    .concat('createdAt', 'updatedAt')
    .map((name) => [name, z.unknown().optional().describe('Ignored')]),
);

export const ThemeDraft = z.strictObject({
  ...ignored,
  name: Name.meta({ example: 'Evening' }),
  description: Text.nullable().optional(),
  author: line(100).nullable().optional(),
  base: ThemeId.nullable().default(DEFAULT).describe(`null is ${DEFAULT}`),
  schemes: z
    .strictObject({ light: TokensIn.optional(), dark: TokensIn.optional() })
    .refine(({ light, dark }) => light ?? dark, { error: 'at least one scheme', params: { code: 'required' } })

    .meta({ minProperties: 1, example: { dark: { 'color.accent': 'oklch(0.78 0.13 75)' } } }),
  shared: TokensIn.default({}),
  managedBy: ManagedBy.nullable().optional().describe("With the operator's key; ignored of others"),
  validateOnly: z.boolean().default(false).describe('Returns the resulting theme with 200 and stores nothing'),
});
export type ThemeDraft = z.output<typeof ThemeDraft>;

const Merged = TokensIn.describe('Merged: null resets a token to its base');

export const ThemeChange = z.strictObject({
  revision: z.int().min(1).optional().describe('Revision of the theme that was read; another one is a 409'),
  name: Name.optional(),
  description: Text.nullable().optional(),
  author: line(100).nullable().optional(),
  base: ThemeId.optional(),
  schemes: z
    .strictObject({ light: Merged.nullable().optional(), dark: Merged.nullable().optional() })
    .optional()
    .describe('null removes a scheme; one must stay'),
  shared: Merged.optional(),
});
export type ThemeChange = z.output<typeof ThemeChange>;

export const StylesheetQuery = z.object({
  v: z.string().min(1).max(64).optional().describe('Version of the theme: the answer may then be cached for a year'),
  scheme: z.enum(['light', 'dark', 'both']).default('both'),
});
export type StylesheetQuery = z.output<typeof StylesheetQuery>;

export const SelectionChange = z.strictObject({
  scope: z.enum(['profile', 'server']).default('profile'),
  selection: z.strictObject(choice).describe('Replaces the whole selection'),
  allowChoice: z.boolean().optional().describe('With scope server'),
});
export type SelectionChange = z.output<typeof SelectionChange>;

export const Selected = z.object({ selection: ThemeSelection, serverDefault: ServerTheme });
export type Selected = z.output<typeof Selected>;
