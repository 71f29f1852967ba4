import { z } from 'zod';
import { RuleGroup } from '#kernel/filter.ts';
import { sortQuery } from '#kernel/page.ts';
import { Id } from '#kernel/schemas.ts';
import { ItemType } from '../items.schemas.ts';
import { serverSorts } from '../listing/server-list.ts';

/** What a list that makes itself has at most. */
export const SmartLimit = z
  .union([
    z.strictObject({ items: z.int().min(1).max(10_000) }),
    z.strictObject({ durationMs: z.int().min(1) }),
    z.strictObject({ sizeBytes: z.int().min(1) }),
  ])
  .meta({
    id: 'SmartLimit',
    description: 'Counted in the order of the rules; of times and sizes at most 10,000 items',
  });

export const SmartRules = z
  .strictObject({
    match: RuleGroup,
    types: z.array(ItemType).max(20).describe('Empty: what each library lists'),
    libraryIds: z.array(Id).max(100).describe('Empty: every library that the viewer sees'),
    sort: sortQuery(serverSorts, 'custom.').unwrap().min(1),
    limit: SmartLimit.optional(),
  })
  .meta({
    id: 'SmartRules',
    example: {
      match: { all: [{ field: 'genre', op: 'eq', value: 'Horror' }] },
      types: ['movie'],
      libraryIds: [],
      sort: '-year',
    },
  });
export type SmartRules = z.output<typeof SmartRules>;
