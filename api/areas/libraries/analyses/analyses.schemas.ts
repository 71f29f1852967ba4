import { z } from 'zod';
import { analysisNames } from './kinds.ts';

const Count = z.int().min(0);

export const AnalysesQueued = z
  .object({
    queued: z
      .object({
        previewThumbnails: Count.optional().meta({ example: 120 }),
        introDetection: Count.optional().meta({ example: 24 }),
        creditsDetection: Count.optional().meta({ example: 24 }),
        voiceActivity: Count.optional().meta({ example: 120 }),
        acousticFeatures: Count.optional(),
        faces: Count.optional(),
      })
      .describe('Files newly queued, for each analysis that is switched on and applies to the type of the library'),
    creditsFromChapters: Count.describe('Files whose credits were marked at once, because a chapter names them'),
    off: z
      .array(
        z.object({
          name: z.enum(analysisNames),
          by: z.enum(['server', 'library']).describe('The switch that is off; `server` also when both are'),
        }),
      )
      .max(analysisNames.length)
      .describe('Analyses that apply to the type and are switched off'),
    waiting: Count.describe('Files of all libraries that wait for an analysis now').meta({ example: 288 }),
  })
  .meta({ id: 'AnalysesQueued' });
export type AnalysesQueued = z.output<typeof AnalysesQueued>;

export const TrickplayRemoved = z
  .object({ removed: Count.describe('Files that had thumbnails').meta({ example: 120 }) })
  .meta({ id: 'TrickplayRemoved' });
