import { z } from 'zod';
import { ItemType } from '#areas/items/public.ts';
import { Id, ManagedBy, queryBool, Timestamp } from '#kernel/schemas.ts';

export const kinds = [
  'text',
  'long-text',
  'number',
  'boolean',
  'date',
  'choice',
  'choices',
  'url',
  'duration',
  'rating',
  'person',
  'item',
] as const;
export const Kind = z.enum(kinds);
export type Kind = z.output<typeof Kind>;

const Text = (max: number) => z.string().trim().min(1).max(max);
const Color = z.string().regex(/^#[0-9a-fA-F]{6}$/);

export const Option = z
  .strictObject({
    value: Text(60).describe('Fixed').meta({ example: 'dvd' }),
    label: Text(60).meta({ example: 'DVD' }),
    color: Color.optional().meta({ example: '#3e63dd' }),
  })
  .meta({ id: 'CustomFieldOption' });
export type Option = z.output<typeof Option>;

/** An option in a change: one that is left out of the list, or named with `replaceBy`, is removed. */
const ChangedOption = Option.extend({
  label: Text(60).optional().meta({ example: 'DVD' }),
  replaceBy: Text(60)
    .nullable()
    .optional()
    .describe('Removes the option; its values become this one, or go with null')
    .meta({ example: 'blu-ray' }),
}).meta({ id: 'CustomFieldOptionChange' });

export const Value = z
  .union([z.string().max(20_000), z.number(), z.boolean(), z.array(z.string().max(60)).max(500)])
  .meta({ id: 'CustomValue', description: 'Text, number, boolean, day, id, or the values of several choices' });
export type Value = z.output<typeof Value>;

const bounded = {
  unit: Text(12).describe('number').meta({ example: 'cm' }),
  min: z.number().describe('number, rating, duration, date as milliseconds'),
  max: z.number(),
  decimals: z.int().min(0).max(6).describe('number'),
  maxLength: z.int().min(1).max(20_000).describe('text, long-text'),
  targetTypes: z
    .array(ItemType)
    .min(1)
    .max(30)
    .describe('item')
    .meta({ example: ['movie'] }),
};

const flags = {
  required: z.boolean().describe('Binds edits by people'),
  audience: z.enum(['everyone', 'editors']),
  editableBy: z.enum(['editors', 'viewers']),
  inFilter: z.boolean(),
  inSort: z.boolean(),
  inFacets: z.boolean(),
  inSearch: z.boolean(),
  inLists: z.boolean(),
};

const placed = {
  group: Text(40).meta({ example: 'Shelf' }),
  order: z.int().min(0).max(10_000),
};

const ItemTypes = z
  .array(ItemType)
  .min(1)
  .max(30)
  .meta({ example: ['movie'] });
const Libraries = z.array(Id).min(1).max(500);

export const CustomField = z
  .object({
    id: Id,
    key: z.string().meta({ example: 'shelf' }),
    label: z.string().meta({ example: 'Shelf' }),
    description: z.string().optional(),
    kind: Kind,
    itemTypes: z.array(z.string()).meta({ example: ['movie'] }),
    libraryIds: z.array(Id).optional().describe('Absent is every library'),
    options: z.array(Option).optional(),
    unit: bounded.unit.optional(),
    min: bounded.min.optional(),
    max: bounded.max.optional(),
    decimals: bounded.decimals.optional(),
    maxLength: bounded.maxLength.optional(),
    targetTypes: z
      .array(z.string())
      .optional()
      .meta({ example: ['movie'] }),
    default: Value.optional().meta({ example: 'A3' }),
    ...flags,
    group: placed.group.optional(),
    order: placed.order,
    indexState: z.enum(['none', 'building', 'ready']),
    valueCount: z.int().optional().describe('Estimate; with counts'),
    managedBy: ManagedBy.optional(),
    revision: z.int(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'CustomField' });
export type CustomField = z.output<typeof CustomField>;

export const CustomFields = z.object({ items: z.array(CustomField) });
export const FieldsQuery = z.object({
  itemType: ItemType.optional(),
  libraryId: Id.optional(),
  counts: queryBool.default(false),
});

const Default = Value.meta({ example: 'A3' });

export const FieldDraft = z.strictObject({
  key: z
    .string()
    .regex(/^[a-z0-9_]{1,40}$/)
    .describe('Fixed')
    .meta({ example: 'shelf' }),
  label: Text(60).meta({ example: 'Shelf' }),
  description: z.string().trim().max(300).optional(),
  kind: Kind.meta({ example: 'text' }),
  itemTypes: ItemTypes,
  libraryIds: Libraries.optional(),
  options: z.array(Option).min(1).max(500).optional().describe('choice, choices'),
  unit: bounded.unit.optional(),
  min: bounded.min.optional(),
  max: bounded.max.optional(),
  decimals: bounded.decimals.optional(),
  maxLength: bounded.maxLength.optional(),
  targetTypes: bounded.targetTypes.optional(),
  default: Default.optional(),
  required: flags.required.default(false),
  audience: flags.audience.default('everyone'),
  editableBy: flags.editableBy.default('editors'),
  inFilter: flags.inFilter.default(true),
  inSort: flags.inSort.default(false),
  inFacets: flags.inFacets.default(false),
  inSearch: flags.inSearch.default(false),
  inLists: flags.inLists.default(false),
  group: placed.group.optional(),
  order: placed.order.default(0),
  restore: z.boolean().default(false).describe('Brings back the values of a deleted field of this key and kind'),
  validateOnly: z.boolean().default(false).describe('200 with the record as it would be; nothing is stored'),
  managedBy: ManagedBy.optional().describe("The operator's key only"),
});
export type FieldDraft = z.output<typeof FieldDraft>;

export const FieldChange = z.strictObject({
  revision: z.int().optional(),
  label: Text(60).optional().meta({ example: 'Shelf' }),
  description: z.string().trim().max(300).nullable().optional(),
  kind: Kind.optional().describe('Only widens'),
  itemTypes: ItemTypes.optional(),
  libraryIds: Libraries.nullable().optional(),
  options: z.array(ChangedOption).min(1).max(500).optional().describe('The whole list'),
  unit: bounded.unit.nullable().optional(),
  min: bounded.min.nullable().optional(),
  max: bounded.max.nullable().optional(),
  decimals: bounded.decimals.nullable().optional(),
  maxLength: bounded.maxLength.nullable().optional(),
  targetTypes: bounded.targetTypes.nullable().optional(),
  default: Default.nullable().optional(),
  required: flags.required.optional(),
  audience: flags.audience.optional(),
  editableBy: flags.editableBy.optional(),
  inFilter: flags.inFilter.optional(),
  inSort: flags.inSort.optional(),
  inFacets: flags.inFacets.optional(),
  inSearch: flags.inSearch.optional(),
  inLists: flags.inLists.optional(),
  group: placed.group.nullable().optional(),
  order: placed.order.optional(),
});
export type FieldChange = z.output<typeof FieldChange>;

export const ChangedField = CustomField.extend({
  changed: z.object({
    values: z.int().describe('Values that were rewritten'),
    removed: z.int(),
    outside: z.int().describe('Values outside of the new bounds, which stay'),
  }),
}).meta({ id: 'ChangedCustomField' });
export type ChangedField = z.output<typeof ChangedField>;
