import { z } from 'zod';
import { SubtitleTrack } from '#areas/items/public.ts';
import { Id } from '#kernel/schemas.ts';
import { SubtitleAllowance } from '../allowance/allowance.schemas.ts';

const Language = z
  .string()
  .max(35)
  .regex(/^[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,3}$/i)
  .describe('BCP 47; default: as the provider says');

export const SubtitleChoice = z.strictObject({
  candidateId: z.string().min(1).max(100).meta({ example: '01900000-0000-7000-8000-000000000009.0' }),
  fileId: Id.optional().describe('The default file when absent'),
  language: Language.optional(),
  hearingImpaired: z.boolean().optional(),
  forced: z.boolean().optional(),
  place: z
    .enum(['server', 'beside'])
    .optional()
    .describe('Kept on the server, or as a file next to the film; default: setting `subtitles.place`'),
});
export type SubtitleChoice = z.output<typeof SubtitleChoice>;

export const DownloadedSubtitle = z.object({ subtitle: SubtitleTrack });
export const FetchedSubtitle = z.object({
  subtitle: SubtitleTrack,
  allowance: SubtitleAllowance.optional().describe('Absent for administrators'),
});
