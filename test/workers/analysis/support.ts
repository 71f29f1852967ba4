// A library of made films whose analyses run as the queue would run them.
import { execFile } from 'node:child_process';
import { mkdir, utimes } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Api, TestClient } from '#support/api.ts';
import { analyzeFiles } from '#workers/analysis/analyze.ts';
import { findCredits } from '#workers/analysis/credits/credits.ts';
import { findIntros } from '#workers/analysis/intros/intros.ts';
import { makePreviews } from '#workers/analysis/previews.ts';
import { findVoices } from '#workers/analysis/voice.ts';
import { newPlace, type Place } from '../scan/support.ts';

const run = promisify(execFile);
const OLD = new Date(Date.now() - 3_600_000);

export interface AnalysedPlace extends Place {
  admin: TestClient;
  /** Makes a file in the library by ffmpeg; the arguments are its inputs and options. */
  film(name: string, args: readonly string[]): Promise<void>;
  fileId(title: string): Promise<string>;
  /** Requests the analyses and runs the jobs that were queued. */
  analyse(): Promise<Record<string, unknown>>;
  states(name: string): Promise<string[]>;
}

export async function newAnalysedPlace(type: string, settings = {}, on?: Api): Promise<AnalysedPlace> {
  const place = await newPlace(type, settings, on);
  const { db } = place.api.deps;
  const { libraryId } = place;
  const admin = place.api.as(await place.api.given.admin());
  return {
    ...place,
    admin,
    async film(name, args) {
      const target = join(place.path, name);
      await mkdir(dirname(target), { recursive: true });
      await run('ffmpeg', ['-v', 'error', '-y', ...args, '-metadata', `comment=${libraryId}`, target]);
      await utimes(target, OLD, OLD);
    },
    async fileId(title) {
      const row = await db('media_files as f')
        .join('items as i', 'i.id', 'f.item_id')
        .where({ 'i.library_id': libraryId, 'i.title': title })
        .first<{ id: string }>('f.id');
      return row.id;
    },
    async analyse() {
      const { body } = await admin.analyzeLibrary({ params: { id: libraryId } });
      const work = place.work();
      const names = Object.keys(body.queued);
      const [parent] = await db('jobs').where({ library_id: libraryId, kind: 'library.analyze' }).pluck('id');
      if (parent) await analyzeFiles({ libraryId, names }, { ...work, jobId: parent });
      await db('jobs').where({ library_id: libraryId }).delete();
      const handlers = {
        ...{ previewThumbnails: makePreviews, introDetection: findIntros },
        ...{ creditsDetection: findCredits, voiceActivity: findVoices },
      };
      for (const [name, handle] of Object.entries(handlers))
        if (names.includes(name)) await handle({ libraryId }, work);
      return body;
    },
    states: async (name) =>
      db('analyses as a')
        .join('media_files as f', 'f.id', 'a.file_id')
        .where({ 'f.library_id': libraryId, 'a.name': name })
        .orderBy('f.path')
        .pluck('a.state'),
  };
}
