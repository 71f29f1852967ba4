import { z } from 'zod';
import { itemFilter } from '#areas/items/public.ts';
import { pageQuery, sortQuery } from '#kernel/page.ts';
import { commaList, Id, queryBool, Timestamp } from '#kernel/schemas.ts';
import type { SortTable } from '#kernel/sort.ts';

const Name = z
  .string()
  .min(1)
  .max(200) // before blanks around it are removed
  .refine((name) => !/\p{Cc}/u.test(name), { error: 'no control characters', params: { code: 'control_character' } })
  .transform((name) => name.normalize('NFC').trim())
  .pipe(z.string().min(1).max(60));
const Color = z.string().regex(/^#[0-9a-f]{6}$/i);
const Description = z.string().max(500);

const PrincipalRole = z.enum(['admin', 'member', 'child', 'guest']);

/** A principal of an access list: exactly one member is present. */
const PrincipalIn = z
  .strictObject({ userId: Id.optional(), profileId: Id.optional(), role: PrincipalRole.optional() })
  .refine((one) => Object.values(one).filter((member) => member !== undefined).length === 1, {
    error: 'exactly one of userId, profileId and role',
    params: { code: 'one_of' },
  })
  .meta({ minProperties: 1, maxProperties: 1 });
export type PrincipalIn = z.output<typeof PrincipalIn>;

export const MOST_PRINCIPALS = 1000;
const Principals = z.array(PrincipalIn).max(MOST_PRINCIPALS);

export const LabelAccessPut = z.strictObject({
  restricted: z.boolean(),
  allow: Principals.default([]),
  deny: Principals.default([]),
  only: Principals.default([]),
});
export type LabelAccessPut = z.output<typeof LabelAccessPut>;

export const LabelPrincipal = z
  .object({
    userId: Id.optional(),
    profileId: Id.optional(),
    role: PrincipalRole.optional(),
    displayName: z.string().meta({ example: 'Ada' }),
  })
  .meta({ id: 'LabelPrincipal' });
export type LabelPrincipal = z.output<typeof LabelPrincipal>;

export const LabelAccess = z
  .object({
    restricted: z.boolean().describe('Hidden from all but allow'),
    allow: z.array(LabelPrincipal),
    deny: z.array(LabelPrincipal).describe('Hidden from these; takes precedence over allow'),
    only: z.array(LabelPrincipal).describe('These see only items with one of their only-labels'),
  })
  .meta({ id: 'LabelAccess' });
export type LabelAccess = z.output<typeof LabelAccess>;

export const Label = z
  .object({
    id: Id,
    name: z.string().meta({ example: 'Family evening' }),
    color: z.string().describe('#rrggbb').meta({ example: '#c8553d' }),
    description: z.string().optional(),
    restricted: z.boolean(),
    onlyForSome: z.boolean().describe('At least one principal sees only items with such labels'),
    itemCount: z.int().describe('Directly labelled items that the caller may see'),
    inheritedFrom: Id.optional().describe('With itemId: the container that carries the label'),
    access: LabelAccess.optional(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Label' });
export type Label = z.output<typeof Label>;

export const labelSorts: SortTable = {
  name: { column: 'l.name_folded', type: 'text' },
  itemCount: { column: 'l.item_count', type: 'bigint', descends: true },
  createdAt: { column: 'l.created_at', type: 'timestamptz', descends: true },
};

export const LabelsQuery = z.object({
  ...pageQuery,
  sort: sortQuery(labelSorts),
  q: z.string().min(1).max(60).optional(),
  restricted: queryBool.optional(),
  itemId: Id.optional().describe("The item's own and inherited labels"),
  libraryId: Id.optional().describe('Labels on items of this library'),
  include: commaList(z.enum(['access']), 1).optional(),
});
export type LabelsQuery = z.output<typeof LabelsQuery>;

export const LabelDraft = z.strictObject({
  name: Name.meta({ example: 'Family evening' }),
  color: Color.optional(),
  description: Description.optional(),
  restricted: z.boolean().default(false),
});

export const LabelChange = z.strictObject({
  name: Name.optional(),
  color: Color.optional(),
  description: Description.nullable().optional(),
  mergeInto: Id.optional().describe('Moves all items and access to that label and removes this one'),
});
export type LabelChange = z.output<typeof LabelChange>;

export const DeleteLabelQuery = z.object({
  confirm: z.string().max(200).optional().describe("The label's name, for one that restricts"),
});

const Ids = z
  .array(Id)
  .max(1000)
  .overwrite((ids) => [...new Set(ids)]);

export const LabelItemsBody = z.strictObject({
  add: Ids.default([]),
  remove: Ids.default([]),
  filter: z
    .strictObject({
      libraryId: Id,
      filter: itemFilter.unwrap().describe('Filter of listLibraryItems; empty matches all that it lists'),
      action: z.enum(['add', 'remove']),
    })
    .optional(),
});
export type LabelItemsBody = z.output<typeof LabelItemsBody>;

export const LabelItemsAnswer = z.object({
  added: z.int(),
  removed: z.int(),
  unchanged: z.int(),
  jobId: Id.optional().describe('Job that applies the filter when it matches more than 1,000 items; then 202'),
});
