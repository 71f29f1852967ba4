import { z } from 'zod';
import { ImageRef, ManagedBy, queryBool, Timestamp } from '#kernel/schemas.ts';

export const kinds = ['main', 'loading'] as const;
export const schemes = ['dark', 'light'] as const;
export type Kind = (typeof kinds)[number];
export type Scheme = (typeof schemes)[number];

const Colour = z.string().regex(/^#[0-9a-fA-F]{6}$/);

const BrandLogo = z
  .object({
    image: ImageRef,
    own: z.boolean().describe('false is the built-in one'),
    from: z.enum(schemes).optional().describe('The scheme it falls back to'),
    alt: z.string().meta({ example: 'Home' }),
    animated: z.boolean(),
    width: z.int().meta({ example: 1440 }),
    height: z.int().meta({ example: 1080 }),
    updatedAt: Timestamp.optional(),
  })
  .meta({ id: 'BrandLogo' });
export type BrandLogo = z.output<typeof BrandLogo>;

const Pair = z.object({ dark: BrandLogo, light: BrandLogo });
const motions = ['none', 'pulse', 'own'] as const;

export const Branding = z
  .object({
    revision: z.int(),
    serverName: z.string().meta({ example: 'Home' }),
    showName: z.boolean(),
    accent: z.string().optional().describe('#rrggbb').meta({ example: '#c8553d' }),
    background: z.string().optional().describe('#rrggbb').meta({ example: '#101418' }),
    signInMessage: z.string().optional().describe('Plain text, shown escaped'),
    footer: z.string().optional().describe('Plain text, shown escaped'),
    links: z.array(
      z.object({
        label: z.string().meta({ example: 'Imprint' }),
        url: z.string().meta({ example: 'https://hooks.example/foyer' }),
      }),
    ),
    loading: z.object({ motion: z.enum(motions), minMs: z.int() }),
    logos: z.object({ main: Pair, loading: Pair }),
    managedBy: ManagedBy.optional(),
    managedFields: z.array(z.string()).optional(),
  })
  .meta({ id: 'Branding' });
export type Branding = z.output<typeof Branding>;

export const ChangedBranding = Branding.extend({
  warnings: z.array(
    z.object({
      key: z.string().meta({ example: 'accent' }),
      message: z.string().meta({ example: 'Contrast is below 4.5' }),
    }),
  ),
}).meta({ id: 'ChangedBranding' });

const MOST_BREAKS = 10;

/** Control characters other than line breaks. */
const hasControls = (text: string): boolean => /[^\P{Cc}\n]/u.test(text);
const plain = (text: string): string => text.replaceAll('\r\n', '\n');

const text = (most: number) =>
  z
    .string()
    .transform(plain)
    .pipe(
      z
        .string()
        .max(most)
        .refine((one) => !hasControls(one), { error: 'control characters', params: { code: 'control_character' } })
        .refine((one) => one.split('\n').length - 1 <= MOST_BREAKS, {
          error: `at most ${MOST_BREAKS} line breaks`,
          params: { code: 'too_many_lines' },
        }),
    );
const line = (most: number) =>
  z
    .string()
    .trim()
    .min(1)
    .max(most)
    .refine((one) => !/\p{Cc}/u.test(one), { error: 'control characters', params: { code: 'control_character' } });

const isHttps = (address: string): boolean => {
  const url = URL.parse(address);
  return url?.protocol === 'https:' && url.username === '' && url.password === '';
};
const Link = z.strictObject({
  label: line(40),
  url: z
    .string()
    .max(2048)
    .refine(isHttps, { error: 'an https address', params: { code: 'invalid_url' } })
    .meta({ example: 'https://hooks.example/foyer' }),
});

export const Alt = line(100);

/** Texts that a user or a resource may set; null resets one to its default. */
export const BrandingTexts = z.strictObject({
  showName: z.boolean().nullable().optional(),
  accent: Colour.nullable().optional().describe('null clears').meta({ example: '#c8553d' }),
  background: Colour.nullable().optional().describe('null clears').meta({ example: '#101418' }),
  signInMessage: text(500).nullable().optional(),
  footer: text(200).nullable().optional(),
  links: z.array(Link).max(3).nullable().optional(),
});

export const BrandingChange = BrandingTexts.extend({
  loading: z
    .strictObject({ motion: z.enum(motions).optional(), minMs: z.int().min(0).max(2000).optional() })
    .optional(),
  alt: z.strictObject({ main: Alt.nullable().optional(), loading: Alt.nullable().optional() }).optional(),
});
export type BrandingTexts = z.output<typeof BrandingTexts>;
export type BrandingChange = z.output<typeof BrandingChange>;

/** An unknown kind or scheme is a 404, so the schema accepts any text. */
export const LogoParams = z.object({
  kind: z.string().max(100).meta({ example: 'light' }),
  scheme: z.string().max(100),
});

export const sizes = [16, 32, 48, 64, 96, 128, 180, 192, 256, 384, 512, 1024] as const;
export const formats = ['webp', 'png', 'avif'] as const;
export type Format = (typeof formats)[number];

export const LogoQuery = z.object({
  size: z
    .enum(sizes.map(String))
    .transform(Number)
    .optional()
    .describe(`Longest side: ${sizes.join(', ')}`),
  format: z.enum(formats).optional().describe('Default: by the Accept header'),
  square: queryBool.default(false).describe('Padded with `background`'),
  v: z.string().min(1).max(64).optional().describe('Version of the image: the answer may then be cached for a year'),
});
export type LogoQuery = z.output<typeof LogoQuery>;

export const NewLogoQuery = z.object({ alt: Alt.optional() });
