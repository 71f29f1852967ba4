import { z } from 'zod';
import { pageQuery, sortQuery } from '#kernel/page.ts';
import { commaList, Id, ManagedBy, queryBool, queryInt, Timestamp } from '#kernel/schemas.ts';
import { uploaded } from '#kernel/uploads.ts';
import { iconFaults } from '#platform/pictures.ts';
import { iconSlots } from './built-in/slots.ts';
import { iconSort } from './icons.sort.ts';

const styles = ['line', 'filled', 'color', 'pixel', 'other'] as const;
const Style = z.enum(styles).meta({ id: 'IconStyle' });
export type IconStyle = (typeof styles)[number];
const sourceKinds = ['png', 'webp', 'jpeg', 'svg', 'built-in'] as const;
export type SourceKind = (typeof sourceKinds)[number];

export const IconSlot = z.enum(iconSlots).meta({ id: 'IconSlot', description: 'A place of the interface' });

export const IconSet = z
  .object({
    id: Id,
    name: z.string().meta({ example: 'Retro' }),
    description: z.string().optional(),
    source: z.enum(['built-in', 'own']),
    author: z.string().optional(),
    license: z.string().optional().meta({ example: 'CC BY 4.0' }),
    style: Style,
    iconCount: z.int(),
    slotsFilled: z.int(),
    slotsTotal: z.int(),
    active: z.boolean(),
    fallbackId: Id.optional().describe('The set that fills slots that this one leaves empty'),
    preview: z.array(Id).describe('At most 8 icons'),
    managedBy: ManagedBy.optional(),
    sourceSha256: z.string().optional().describe("Of the last archive; the operator's key only"),
    revision: z.int(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'IconSet' });
export type IconSet = z.output<typeof IconSet>;

export const Icon = z
  .object({
    id: Id,
    setId: Id,
    name: z.string().meta({ example: 'nav-home' }),
    label: z.string().meta({ example: 'Home' }),
    slot: IconSlot.optional(),
    keywords: z.array(z.string()).meta({ example: ['house'] }),
    tintable: z.boolean().describe('Of one colour: to be drawn in the colour of the theme'),
    sourceKind: z.enum(sourceKinds),
    width: z.int().describe('Of the original'),
    height: z.int(),
    sizes: z.array(z.int()).describe('Sides of the squares that are stored'),
    version: z.int().describe('Rises when the picture changes'),
    url: z.string().meta({ example: '/api/v1/icons/01900000-0000-7000-8000-00000000beef/image?v=1' }),
    inUse: z.int().optional().describe('Libraries and types that name it; with library:manage'),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Icon' });
export type Icon = z.output<typeof Icon>;

const ResolvedSlot = z
  .object({ iconId: Id, version: z.int(), from: z.enum(['own', 'fallback', 'built-in']) })
  .meta({ id: 'ResolvedIconSlot' });

export const WholeIconSet = IconSet.extend({
  slots: z.record(z.string(), ResolvedSlot).describe('Every slot, resolved'),
  icons: z.array(Icon),
}).meta({ id: 'WholeIconSet' });
export type WholeIconSet = z.output<typeof WholeIconSet>;

export const IconSets = z.object({
  items: z.array(IconSet).describe('Built-in ones first, then by name'),
  slots: z.array(
    z.object({
      slot: IconSlot,
      label: z.string().meta({ example: 'Home' }),
      group: z.string().meta({ example: 'nav' }),
    }),
  ),
  activeId: Id,
});

export const SetParams = z.object({ id: z.union([z.literal('active'), Id]).describe('An id, or active') });

const line = (most: number) =>
  z
    .string()
    .max(200)
    .refine((text) => !/\p{Cc}/u.test(text), { error: 'no control characters', params: { code: 'control_character' } })
    .transform((text) => text.normalize('NFC').trim())
    .pipe(z.string().min(1).max(most));
const Description = z
  .string()
  .max(300)
  .refine((text) => !/[^\P{Cc}\n]/u.test(text), {
    error: 'no control characters',
    params: { code: 'control_character' },
  });

export const IconSetDraft = z.strictObject({
  name: line(60).meta({ example: 'Retro' }),
  description: Description.optional(),
  author: line(100).optional(),
  license: line(60).optional(),
  style: Style.default('other'),
  fallbackId: Id.optional().describe('A built-in set when absent'),
  copyOf: Id.optional().describe('A set whose icons are taken over'),
  validateOnly: z.boolean().default(false).describe('200 with what would be; nothing is stored'),
  managedBy: ManagedBy.optional().describe("The operator's key only"),
});
export type IconSetDraft = z.output<typeof IconSetDraft>;

export const IconSetChange = z.strictObject({
  revision: z.int().optional(),
  name: line(60).optional().meta({ example: 'Retro' }),
  description: Description.nullable().optional(),
  author: line(100).nullable().optional(),
  license: line(60).nullable().optional(),
  style: Style.optional(),
  fallbackId: Id.optional(),
  active: z.literal(true).optional().describe('Switches the other sets off'),
  slots: z
    .partialRecord(IconSlot, Id.nullable())
    .optional()
    .describe('Icons of this set by slot; null empties a slot')
    .meta({ example: {} }),
});
export type IconSetChange = z.output<typeof IconSetChange>;

export const ICON_NAME = /^[a-z0-9-]{1,60}$/;
const Name = z.string().regex(ICON_NAME).meta({ example: 'nav-home' });
const Keyword = line(30);
const described = {
  label: line(60).optional(),
  keywords: z
    .array(Keyword)
    .max(20)
    .optional()
    .meta({ example: ['house'] }),
  tintable: z.boolean().optional(),
};

const IconMeta = z.strictObject({
  file: z.string().max(500).meta({ example: 'home.svg' }),
  name: Name.optional(),
  slot: IconSlot.nullable().optional(),
  ...described,
});
export type IconMeta = z.output<typeof IconMeta>;

export const MOST_FILES = 100;
export const UPLOAD_BYTES = 25 << 20;

export const NewIcons = z.strictObject({
  files: z.array(uploaded).min(1).max(MOST_FILES).describe('PNG, WebP, JPEG, SVG, or one ZIP of them'),
  meta: z.array(IconMeta).max(500).default([]).describe('By the name of the file'),
  onDuplicate: z.enum(['refuse', 'replace']).default('refuse'),
});
export type NewIcons = z.output<typeof NewIcons>;

export const IconFault = z.enum(iconFaults).meta({ id: 'IconFault' });

export const IconUploadResult = z
  .object({
    added: z.array(Icon),
    replaced: z.array(Icon),
    refused: z.array(
      z.object({ name: z.string().meta({ example: 'home.svg' }), reason: IconFault, detail: z.string().optional() }),
    ),
  })
  .meta({ id: 'IconUploadResult' });
export type IconUploadResult = z.output<typeof IconUploadResult>;

export const IconChange = z.strictObject({
  name: Name.optional(),
  slot: IconSlot.nullable().optional().describe('null frees it'),
  ...described,
  file: uploaded.optional().describe('A new picture, as a part of multipart/form-data'),
});
export type IconChange = z.output<typeof IconChange>;

export const DeleteIconQuery = z.object({ force: queryBool.default(false).describe('Also an icon that is used') });

export const IconsQuery = z.object({
  ...pageQuery,
  sort: sortQuery(iconSort),
  q: z.string().trim().min(1).max(60).optional().describe('In name, label and keywords; best matches first'),
  setIds: commaList(Id, 50).optional(),
  slot: IconSlot.optional(),
  tintable: queryBool.optional(),
  unused: queryBool.optional().describe('Named by no library and no type; with library:manage'),
});
export type IconsQuery = z.output<typeof IconsQuery>;

export const ImageQuery = z.object({
  size: queryInt(16, 512).default(64),
  format: z.enum(['auto', 'png', 'webp']).default('auto').describe('auto goes by the Accept header'),
  v: z.string().min(1).max(20).optional().describe('The version: the answer may then be cached for a year'),
});
export type ImageQuery = z.output<typeof ImageQuery>;
