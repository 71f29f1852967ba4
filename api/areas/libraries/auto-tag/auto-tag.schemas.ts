import { z } from 'zod';
import { Id } from '#kernel/schemas.ts';
import { parseTemplate } from './template.ts';

export const tagKinds = ['people', 'studios', 'genres', 'tags', 'labels'] as const;
export type TagKind = (typeof tagKinds)[number];

const TemplateText = z
  .string()
  .min(1)
  .max(200)
  .refine((text) => parseTemplate(text) !== undefined, {
    error: 'placeholders {title} {date} {person} {studio} {tag} with text between them',
    params: { code: 'bad_template' },
  })
  .meta({ example: '{studio} - {date} - {title}' });

export const AutoTag = z
  .strictObject({
    kinds: z.array(z.enum(tagKinds)).min(1).max(5),
    itemIds: z.array(Id).min(1).max(1000).optional().describe('All items of the library when absent'),
    templates: z.array(TemplateText).min(1).max(10).optional().describe('Of file names without their extension'),
    minLength: z.int().min(2).max(20).default(3).describe('Characters of the shortest name that is looked for'),
    dryRun: z.boolean().default(false),
  })
  .meta({ id: 'AutoTag' });
export type AutoTag = z.output<typeof AutoTag>;

const Count = z.int().min(0);

export const AutoTagged = z
  .object({
    dryRun: z.boolean(),
    jobId: Id.optional().describe('Goes on behind the first 2,000 items'),
    examined: Count.describe('Items so far').meta({ example: 120 }),
    matched: Count.describe('Items with a match').meta({ example: 18 }),
    applied: Count.describe('Values added').meta({ example: 22 }),
    matches: z
      .array(
        z.object({
          itemId: Id,
          title: z.string().meta({ example: 'Nosferatu' }),
          kind: z.enum(tagKinds),
          value: z.string().meta({ example: 'Max Schreck' }),
          matchedText: z.string().meta({ example: 'max.schreck' }),
        }),
      )
      .max(200),
  })
  .meta({ id: 'AutoTagged' });
export type AutoTagged = z.output<typeof AutoTagged>;
