import type { LiveProgram } from '#areas/viewing/public.ts';
import type { Db } from '#platform/db.ts';

/** Reads the programmes of a channel that reach into a time, in order. */
export type ProgrammeReader = (
  db: Db,
  channelId: string,
  between: { from: Date; to: Date },
) => Promise<(LiveProgram & { aboveAge?: (ageLimit: number | undefined) => boolean })[]>;

let reader: ProgrammeReader = () => Promise.resolve([]);

/** Connects the guide. Without one, channels have no programmes. */
export function readProgrammesBy(read: ProgrammeReader): void {
  reader = read;
}

/** The programmes of a channel that reach into a time, by the guide. */
export const programmesOf: ProgrammeReader = (db, channelId, between) => reader(db, channelId, between);
