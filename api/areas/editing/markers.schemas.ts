import { z } from 'zod';
import { Id, Milliseconds, Timestamp } from '#kernel/schemas.ts';

export const markerKinds = ['intro', 'recap', 'credits', 'commercial', 'preview', 'highlight'] as const;
export type MarkerKind = (typeof markerKinds)[number];

export const Marker = z
  .object({
    id: Id.optional(),
    fileId: Id,
    kind: z.enum(markerKinds),
    startMs: Milliseconds.meta({ example: 62_000 }),
    endMs: Milliseconds.meta({ example: 152_000 }),
    source: z.enum(['person', 'chapters', 'analysis', 'agent', 'recording']),
    confidence: z.number().min(0).max(1).optional().describe('Of an analysis').meta({ example: 0.9 }),
    locked: z.boolean().describe('Analyses pass over the file'),
  })
  .meta({ id: 'Marker' });
export type Marker = z.output<typeof Marker>;

export const MarkersQuery = z.strictObject({ fileId: Id.optional() });

export const ItemMarkers = z
  .object({
    items: z.array(Marker).describe('By file and start; empty for a container'),
    analyses: z
      .array(
        z.object({
          kind: z.enum(['intro', 'credits']),
          state: z
            .enum(['none', 'queued', 'done', 'not-found', 'off'])
            .describe('`off` when a switch of the server or the library is off, or the markers are locked'),
          at: Timestamp.optional(),
        }),
      )
      .max(2)
      .describe('Analyses that apply to the type of the item'),
    episodes: z
      .array(z.object({ itemId: Id, markers: z.int().min(1) }))
      .optional()
      .describe('Of a container: its episodes that have markers'),
  })
  .meta({ id: 'ItemMarkers' });
export type ItemMarkers = z.output<typeof ItemMarkers>;

const GivenMarker = z.strictObject({
  kind: z.enum(markerKinds),
  startMs: Milliseconds.meta({ example: 62_000 }),
  endMs: Milliseconds.meta({ example: 152_000 }),
});

export const MarkersChange = z
  .strictObject({
    fileId: Id,
    markers: z.array(GivenMarker).max(100),
    lock: z.boolean().default(true).describe('Whether analyses pass over the file from now on'),
  })
  .meta({ id: 'MarkersChange' });
export type MarkersChange = z.output<typeof MarkersChange>;

export const ChangedMarkers = z.object({ items: z.array(Marker) }).meta({ id: 'ChangedMarkers' });
