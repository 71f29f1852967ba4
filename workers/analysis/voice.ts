import { saveVoice } from '#areas/libraries/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { listen, soundtrackOf } from '../voice/listen.ts';
import type { Work } from '../work.ts';
import { type AnalysedFile, eachFile, type Finding } from './each-file.ts';

/** Finds the speech in the soundtracks of files that wait for it. */
export function findVoices({ libraryId }: JobPayload<'analysis.voice'>, work: Work): Promise<object> {
  return eachFile(work, { name: 'voiceActivity', libraryId, each: (source) => voicesOf(source, work) });
}

async function voicesOf(source: AnalysedFile, { signal }: Work): Promise<Finding> {
  const { file, probe } = source;
  const stream = soundtrackOf(probe);
  const speech = stream && (await listen({ file, probe, stream, signal }));
  if (!speech) return { state: 'not-found' };
  return { state: 'done', save: (db) => saveVoice(db, { ...source, streamIndex: stream.index }, speech) };
}
