import { createHash } from 'node:crypto';
import { findSubtitleFields, holdVisibleItem, type SubtitleTrack, toMediaStream } from '#areas/items/public.ts';
import { isEditingAdmin } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, notFound } from '#kernel/errors.ts';
import { spendFor } from '../allowance/allowance.ts';
import { giveBackUse, settleUse } from '../allowance/uses.store.ts';
import { announceSubtitles } from '../announce.ts';
import { type Film, getFilm } from '../film.ts';
import { FETCHABLE } from '../find/find.ts';
import { type Finding, findFinding } from '../find/searches.store.ts';
import { wantedFilm } from '../find/wanted.view.ts';
import { readForeignFile } from '../foreign/read.ts';
import { addKept, type KeptText, putKeptText } from '../kept/kept.store.ts';
import { ProviderFault } from '../providers/provider.ts';
import { downloadFrom } from '../providers/providers.ts';
import { getSubtitleRow } from '../sync/sync.ts';
import type { SubtitleChoice } from './fetch.schemas.ts';
import { findHere } from './here.ts';
import { addSidecar, type Marks, writableFolder, writeSidecar } from './sidecar.ts';

/** Longer than a download and its opening can take. */
const PENDING_MS = 120_000;

/** Adds a finding of the last day to the film, for an editor. */
export async function download(call: Call, id: string, choice: SubtitleChoice): Promise<SubtitleTrack> {
  const film = await getFilm(call, id, choice.fileId);
  const finding = await findFinding(call.db, choice.candidateId, { itemId: id, withinMinutes: FETCHABLE.admin });
  return taken(call, { film, finding, choice });
}

/** Adds a finding of the caller's own searches of the last half hour, for one use of the day. */
export async function fetchFound(call: Call, id: string, choice: SubtitleChoice): Promise<SubtitleTrack> {
  if (isEditingAdmin(call.who)) return download(call, id, choice);
  const film = await getFilm(call, id, choice.fileId);
  const reach = { itemId: id, withinMinutes: FETCHABLE.own, accountId: call.who.accountId };
  const finding = await findFinding(call.db, choice.candidateId, reach);
  if (finding?.forced) throw notFound();
  return taken(call, { film, finding, choice: undefined });
}

interface Taking {
  film: Film;
  finding: Finding;
  /** In place of those of the provider. */
  marks?: Partial<Marks>;
  /** Absent when the server keeps the text. */
  directory?: string;
  /** Absent for those who spend nothing. */
  use?: string;
}

async function taken(
  call: Call,
  { film, finding, choice }: { film: Film; finding: Finding | undefined; choice: SubtitleChoice | undefined },
): Promise<SubtitleTrack> {
  if (!finding) throw notFound();
  await refuseHere(call, film, (here) => here.byFile(finding.provider, finding.file));
  const taking: Taking = { film, finding, ...(choice ? await chosen(call, film, choice) : await spent(call, film)) };
  const { use } = taking;
  const streamId = await received(call, taking).catch(async (error: unknown) => {
    if (use) await giveBackUse(call.deps.db, use);
    throw error instanceof ProviderFault ? unavailable(error) : error;
  });
  return track(call, film, streamId); // the text is kept and the use spent, also when this fails
}

/** What an editor chooses. Throws 409 and 423 for a place that is not written to. */
async function chosen(call: Call, film: Film, choice: SubtitleChoice): Promise<Pick<Taking, 'marks' | 'directory'>> {
  const place = choice.place ?? call.deps.settings.get('subtitles.place');
  const { language, forced, hearingImpaired } = choice;
  const marks = Object.entries({ language, forced, hearingImpaired }).filter(([, value]) => value !== undefined);
  return {
    marks: Object.fromEntries(marks) as Partial<Marks>,
    ...(place === 'beside' && { directory: await writableFolder(call, film) }),
  };
}

/** A viewer's use, which counts as given back when this process ends before the text is kept. */
async function spent(call: Call, { itemId }: Film): Promise<Pick<Taking, 'use'>> {
  const use = { kind: 'fetch', itemId, pendingMs: PENDING_MS } as const;
  const id = await call.transact((inside) => spendFor(inside, use));
  return { ...(id !== undefined && { use: id }) };
}

const marksOf = ({ finding, marks }: Taking): Marks => ({
  ...{ language: finding.language, forced: finding.forced, hearingImpaired: finding.hearingImpaired },
  ...marks,
});

function unavailable({ reason, retryAfterSec }: ProviderFault): ApiError {
  const details = {
    reason: reason === 'quota' ? 'quota' : 'down',
    ...(retryAfterSec !== undefined && { retryAfterSec }),
  };
  return new ApiError('PROVIDER_UNAVAILABLE', 'The provider does not send this subtitle', details);
}

async function refuseHere(
  { db }: Call,
  film: Film,
  find: (here: Awaited<ReturnType<typeof findHere>>) => string | undefined,
): Promise<void> {
  const streamId = find(await findHere(db, film.fileId));
  if (streamId !== undefined) throw conflict('already-here', 'The film has this subtitle', { streamId });
}

/** Downloads and keeps the text. Returns the id of its stream. */
async function received(call: Call, taking: Taking): Promise<string> {
  const { film, finding } = taking;
  const { provider, file } = finding;
  const { frameRate, season, episode } = (await wantedFilm(call, film.itemId, film.fileId)).facts;
  // the provider counts a download at once, so that with a use it goes on after its client left
  const signal = taking.use === undefined ? call.signal : new AbortController().signal;
  const foreign = await downloadFrom(call.deps, { provider, file, signal });
  const text = await readForeignFile(foreign.bytes, {
    language: finding.language,
    ...(frameRate !== undefined && { frameRate }),
    ...(foreign.entry !== undefined && { entry: foreign.entry }),
    ...(season !== undefined && episode !== undefined && { episode: { season, number: episode } }),
  });
  const digest = createHash('sha256').update(text.bytes).digest('hex');
  await refuseHere(call, film, (here) => here.byContent(digest));
  return taking.directory === undefined ? kept(call, taking, text) : placed(call, taking, text);
}

async function kept(call: Call, taking: Taking, text: KeptText): Promise<string> {
  const { film, finding } = taking;
  await putKeptText(call.deps.objects, text);
  return call.transact(async (inside) => {
    await begin(inside, taking, text);
    const origin = { source: 'fetched', provider: finding.provider, providerFile: finding.file } as const;
    const id = await addKept(inside.db, text, {
      ...{ fileId: film.fileId, ...marksOf(taking), accountId: call.who.accountId },
      origin: { ...origin, release: finding.release },
    });
    await announceSubtitles(inside.db, film.itemId);
    return id;
  });
}

async function placed(call: Call, taking: Taking, text: KeptText): Promise<string> {
  const { film, finding, directory = '' } = taking;
  const marks = marksOf(taking);
  const written = await writeSidecar(directory, film, { text, marks });
  return call.transact(async (inside) => {
    await begin(inside, taking, text);
    const origin = { provider: finding.provider, providerFile: finding.file };
    const id = await addSidecar(inside, film, { written, text, marks, ...origin });
    await announceSubtitles(inside.db, film.itemId);
    return id;
  });
}

/** The item may be gone by now, the text may have come by another request, and the time of the use may be over. */
async function begin({ db, who }: Call, { film, finding, use }: Taking, text: KeptText): Promise<void> {
  await holdVisibleItem(db, who, film.itemId);
  await db('media_files').where({ id: film.fileId }).forNoKeyUpdate().first('id');
  const here = await findHere(db, film.fileId);
  const digest = createHash('sha256').update(text.bytes).digest('hex');
  const streamId = here.byFile(finding.provider, finding.file) ?? here.byContent(digest);
  if (streamId !== undefined) throw conflict('already-here', 'The film has this subtitle', { streamId });
  if (use && !(await settleUse(db, use)))
    throw new ApiError('PROVIDER_UNAVAILABLE', 'The download took too long', { reason: 'down' });
}

async function track(call: Call, film: Film, streamId: string): Promise<SubtitleTrack> {
  const row = await getSubtitleRow(call, { id: film.itemId, streamId });
  const fields = (await findSubtitleFields(call.db, call.who, [row])).get(row.id);
  if (!fields) throw notFound();
  return { ...toMediaStream(row), ...fields };
}
