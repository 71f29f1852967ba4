import { z } from 'zod';
import { Id } from '#kernel/schemas.ts';

/** The path is that of getSubtitleFile, and OpenAPI knows no second name for one place of a path. */
export const KeptParams = z.object({ id: Id, file: Id.describe('The id of the stream') });
